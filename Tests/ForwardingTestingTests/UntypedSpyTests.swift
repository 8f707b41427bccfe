// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingTestSupport
import ForwardingTesting
import Invocations
import Synchronization
import Testing

/// Counts its instances.
final class Counted: CallObject, Equatable {
  let counter: Counter
  init(_ counter: Counter) {
    self.counter = counter
    counter.add(1)
  }
  deinit { counter.add(-1) }
  static func == (one: Counted, other: Counted) -> Bool { one === other }

  final class Counter: Sendable {
    private let alive = Atomic(0)
    func add(_ count: Int) { alive.add(count, ordering: .relaxed) }
    var count: Int { alive.load(ordering: .relaxed) }
  }
}

/// A value that owns an object, too large to be passed in registers.
struct Parcel {
  var owner: Counted
  var text: String
  var numbers: [Int]
}

@Suite("A spy without a proxy")
struct UntypedSpyTests {
  let spy = SpyProxy()
  let ask = try! Message<Int, Int>("ask:")

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
    spy[ask].answer(with: 1)
    other[ask].answer(with: 2)
    #expect(try ask.all(0, on: everyone) == [1, 2])
  }

  @Test(
    "a real object that sends calls back to the spy gets an error, and does not end the process")
  func circle() {
    let ring = MulticastProxy(one: nil)
    let spy = SpyProxy(wrapping: ring)
    ring.add(spy)
    #expect(throws: InvocationError.self) { try ask(1, on: spy) }
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
    try take(Tally(), 3, on: spy)
    #expect(spy[take].unchecked.received.map(\.0.number) == [5])
    #expect(spy[take].unchecked.where { tally, _ in tally.number == 4 }.calls == 0)
    #expect(spy[take].unchecked.where { _, times in times == 3 }.expect())
  }

  @Test("a spy owns recorded objects, strings and values, and releases them with its calls")
  func ownership() throws {
    let counter = Counted.Counter()
    var spy: SpyProxy? = SpyProxy()
    let send = try Message<NoResult, Counted?, String, Parcel?, Parcel>("send:text:maybe:parcel:")
    for number in 0..<100 {
      let parcel = Parcel(owner: Counted(counter), text: "\(number)", numbers: [number])
      let object = number % 2 == 0 ? Counted(counter) : nil
      try send(
        object, "a text that is longer than fits \(number)", number % 3 == 0 ? nil : parcel, parcel,
        on: spy)
    }
    #expect(counter.count == 150)
    do {
      let received = try #require(spy)[send].unchecked.received
      #expect(received.count == 100)
      #expect(received.map(\.1) == (0..<100).map { "a text that is longer than fits \($0)" })
      #expect(received.map(\.3.numbers) == (0..<100).map { [$0] })
      #expect(received.map { $0.2 == nil } == (0..<100).map { $0 % 3 == 0 })
      #expect(received.map { $0.0 == nil } == (0..<100).map { $0 % 2 == 1 })
    }
    #expect(counter.count == 150)
    spy?.forgetCalls()
    #expect(counter.count == 0)
    let last = Parcel(owner: Counted(counter), text: "", numbers: [])
    try send(nil, "", nil, last, on: spy)
    #expect(try #require(spy)[send].calls == 1)
    spy = nil
    withExtendedLifetime(last) { #expect(counter.count == 1) }
  }

  @Test("a deinit of a recorded value can use the spy, because no lock is held")
  func endUsesTheSpy() throws {
    final class Farewell: CallObject {
      let spy: SpyProxy
      let ended: Message<NoResult>
      init(_ spy: SpyProxy, _ ended: Message<NoResult>) { (self.spy, self.ended) = (spy, ended) }
      deinit { _ = try? ended(on: spy) }
    }
    let ended = try Message<NoResult>("ended")
    let send = try Message<NoResult, Farewell>("send:")
    try send(Farewell(spy, ended), on: spy)
    spy.forgetCalls()
    #expect(spy[ended].calls == 1)
  }

  @Test("an answer can release its spy, even if that was the last reference")
  func letsGo() throws {
    let held = LockedValue<SpyProxy?>(nil)
    for number in 0..<200 {
      do {
        let spy = SpyProxy()
        held.withLock { $0 = spy }
        for (sign, message) in [(1, spy[ask]), (-1, spy[ask].where { $0 > 99 })] {
          message.answer { number in
            held.withLock { $0 = nil }
            return sign * number
          }
        }
      }
      #expect(try ask(number, on: held.withLock { $0 }) == (number > 99 ? -number : number))
    }
  }

  @Test("no call of many threads is lost")
  func threads() throws {
    let send = try Message<NoResult, Int, String>("send:text:")
    spy[ask].answer { $0 + 1 }
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<500 {
        _ = try? send(thread * 500 + number, "\(number)", on: spy)
        let answer = try? ask(number, on: spy)
        if answer != number + 1 { Issue.record("answered \(answer as Int?)") }
        if number % 100 == 0 {
          spy[ask].answer { $0 + 1 }
          _ = spy[send].calls
          _ = spy[send].received
        }
      }
    }
    #expect(spy[send].calls == 4000)
    #expect(Set(spy[send].received.map(\.0)) == Set(0..<4000))
    #expect(spy[ask].calls == 4000)
  }
}
