// SPDX-License-Identifier: Apache-2.0
import ForwardingTesting
import Invocations
import Testing

@Suite("A spy without a proxy")
struct SelectorSpyTests {
  let spy = SpyProxy()

  @Test("a spy takes any message, and answers the configured ones")
  func messages() throws {
    let deposit = try Message<Int32, Int32>("deposit:")
    #expect(throws: ForwardingError.nobodyAnswered("deposit:")) { try deposit(1, on: spy) }
    spy[deposit].answer { $0 * 2 }
    #expect(try deposit(21, on: spy) == 42)
    #expect(spy[deposit].received == [1, 21])
    try Message<NoResult>("close")(on: spy)
    #expect(spy.transcript == ["deposit:(1)", "deposit:(21)", "close()"])
  }

  @Test("a spy can be a target of a proxy, and is identified in its report")
  func amongTargets() throws {
    let everyone = MulticastProxy()
    let other = SpyProxy()
    everyone.add(spy)
    everyone.add(other)
    let saved = try Message<NoResult, Int32>("didSave:")
    try saved(42, on: everyone)
    verifyInOrder {
      spy[saved].with(42)
      other[saved].with(42)
    }
    let ask = try Message<Int, Int>("ask:")
    spy[ask].answer(with: 1)
    other[ask].answer(with: 2)
    #expect(try ask.all(0, on: everyone) == [1, 2])
  }

  @Test("a call with other types is in the transcript, and not among the received ones")
  func otherTypes() throws {
    let numbers = try Message<NoResult, Int32>("take:")
    let texts = try Message<NoResult, String>("take:")
    try numbers(5, on: spy)
    try texts("five", on: spy)
    #expect(spy[numbers].calls == 2)
    #expect(spy[numbers].received == [5])
    #expect(spy[texts].received == ["five"])
    #expect(spy.transcript == ["take:(5)", "take:(\"five\")"])
    spy[numbers].answer(with: NoResult())
    #expect(throws: InvocationError.self) { try texts("five", on: spy) }
  }

  @Test("an inout argument in use cannot be recorded, and its caller gets an error")
  func changing() throws {
    let edit = try Message<NoResult, [Int], InoutVariable<String>>("edit:text:")
    var text = "hello"
    try InoutVariable.lend(&text) { variable in
      try edit([1], variable, on: spy)
      try variable.change { text in
        text += "!"
        #expect(throws: InvocationError.variableNotLent(SwiftType(String.self))) {
          try edit([2], variable, on: spy)
        }
      }
      try edit([3], variable, on: spy)
    }
    #expect(try spy[edit].received.map { try $0.1.value } == ["hello", "hello!"])
    #expect(spy[edit].calls == 2)
    #expect(spy[edit].received.map(\.0) == [[1], [3]])
  }

  /// An object that two threads must not use at the same time.
  final class Tally { var number = 5 }

  @Test("arguments that are not Sendable are available through the unchecked message")
  func unchecked() throws {
    let take = try Message<NoResult, Tally, Int>("take:times:")
    let tally = Tally()
    try take(tally, 3, on: spy)
    #expect(spy[take].unchecked.received.map(\.0.number) == [5])
    #expect(spy[take].unchecked.where { tally, _ in tally.number == 4 }.calls == 0)
    #expect(spy[take].unchecked.where { _, times in times == 3 }.expect())
  }
}
