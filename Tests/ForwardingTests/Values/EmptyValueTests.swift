// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import Invocations
import Testing

private struct Nothing: Equatable, Sendable {}
private enum Only: Sendable { case one }
private final class Thing: Sendable {}

private let thing = Thing()

@Suite("Values without memory")
struct EmptyValueTests {
  /// Sends values in each possible way, and returns how often they were received.
  private func send<each Given: Sendable & SendableMetatype>(
    _ given: repeat each Given
  ) async throws -> Int {
    var count = 0
    for _ in repeat (each Given).self { count += 1 }
    let selector = try Selector(interning: String(repeating: "a:", count: count))
    let (target, received) = (ClosureTarget(), Guarded(0))
    try target.register(selector) { (_: repeat each Given) in received.withLock { $0 += 1 } }
    let message = try Message<Void, repeat each Given>(selector)
    try message(repeat each given, on: target)
    let byHand = Invocation(message.plan)
    try byHand.setSelector(selector)
    var index = 2
    for value in repeat each given {
      try byHand.setArgument(value, at: index)
      index += 1
    }
    byHand.retainArguments()
    try byHand.copy().invoke(on: target)
    let (proxy, queue) = (MulticastProxy(), DispatchQueue(label: "empty"))
    proxy.add(target, on: .queue(queue))
    try message(repeat each given, on: proxy)
    queue.sync {}
    try await AsyncMessage<Void, repeat each Given>(selector)(repeat each given, on: target)
    return received.read { $0 }
  }

  @Test("empty values can be sent in each way, at any position")
  func places() async throws {
    #expect(try await send(Nothing()) == 4)
    #expect(try await send(()) == 4)
    #expect(try await send(Only.one, Int.self) == 4)
    #expect(try await send(thing, Nothing()) == 4)
    #expect(try await send(Nothing(), thing) == 4)
    #expect(try await send(1, Nothing(), "text") == 4)
    #expect(try await send([1], Nothing(), 7 as any Sendable, ()) == 4)
    #expect(try await send(Nothing(), Only.one, (), Nothing(), thing) == 4)
    #expect(try await send(thing, thing, thing, thing, Nothing()) == 4)
  }

  // The compiler has an address for values whose types it does not see. Here it sees the types.
  @Test("an empty value can be sent and returned without other values")
  func alone() throws {
    let target = ClosureTarget()
    try target.register("one:") { (value: Nothing) in value }
    try target.register("one:two:") { (value: Nothing, _: Only) in value }
    try target.register("of:a:b:c:d:") { (_: Nothing, _: Only, _: (), _: Int.Type, only: Only) in
      only
    }
    let one = try Message<Nothing, Nothing>("one:")
    let two = try Message<Nothing, Nothing, Only>("one:two:")
    let five = try Message<Only, Nothing, Only, (), Int.Type, Only>("of:a:b:c:d:")
    #expect(try one(Nothing(), on: target) == Nothing())
    #expect(try two(Nothing(), .one, on: target) == Nothing())
    #expect(try five(Nothing(), .one, (), Int.self, .one, on: target) == .one)
  }

  @Test("empty values can be arguments and results of functions")
  func functions() throws {
    let functions = FunctionTable()
    try functions.register("echo") { (value: Nothing) in value }
    try functions.register("second") { (_: Thing, only: Only) in only }
    #expect(try functions.call("echo", Nothing(), returning: Nothing.self) == Nothing())
    #expect(try functions.call("second", thing, Only.one, returning: Only.self) == .one)
    let echo = try functions.function("echo", as: ((Nothing) -> Nothing).self)
    #expect(try echo(Nothing()) == Nothing())
  }

  @Test("empty values can be lent as variables")
  func variables() throws {
    let target = ClosureTarget()
    try target.register("edit:") { (value: InoutVariable<Nothing>) in
      try value.change { $0 = Nothing() }
    }
    let edit = try Message<Void, InoutVariable<Nothing>>("edit:")
    var nothing = Nothing()
    try InoutVariable.lend(&nothing) { try edit($0, on: target) }
  }
}
