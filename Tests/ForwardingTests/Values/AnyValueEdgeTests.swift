// SPDX-License-Identifier: Apache-2.0
import Testing
import TypeEncodings

@testable import Forwarding
@testable import Invocations

/// Counts its live instances.
private final class Part: CallObject, Sendable {
  static let alive = Guarded(0)
  init() { Self.alive.withLock { $0 += 1 } }
  deinit { Self.alive.withLock { $0 -= 1 } }
}

private struct Letter: Sendable { var part = Part() }

/// Has an empty carrier, although it has a stored property.
private struct Hollow: CarriedValue, Equatable {
  var numbers = [1, 2, 3]
  init() {}
  var carrier: NoResult { NoResult() }
  init(carrier: NoResult) {}
}

/// An object whose carrier is a number.
private final class Ticket: CarriedValue {
  let number: Int32
  init(carrier: Int32) { number = carrier }
  var carrier: Int32 { number }
}

@Suite("Unusual values of Swift types", .serialized)
struct AnyValueEdgeTests {
  @Test("a value with an empty carrier is made by its type")
  func hollow() throws {
    let target = ClosureTarget()
    try target.register("empty:") { (_: [Int]) in Hollow() }
    #expect(try Message<Hollow, [Int]>("empty:")([1], on: target) == Hollow())
  }

  @Test("objects of a class with a carrier are passed by it, whatever the message's result is")
  func ticket() throws {
    let target = ClosureTarget()
    let taken = Guarded<[Int32]>([])
    try target.register("take:") { (ticket: Ticket) in
      taken.withLock { $0.append(ticket.number) }
    }
    try Message<NoResult, Ticket>("take:")(Ticket(carrier: 4), on: target)
    try Message<Void, Ticket>("take:")(Ticket(carrier: 5), on: target)
    #expect(taken.read { $0 } == [4, 5])
  }

  @Test(
    "a value is no element of an array, whatever the encoding says",
    arguments: ["v@:[1i]", "v@:[0i]"])
  func array(encoding: String) throws {
    #expect(throws: InvocationError.self) { try Message<Void, Letter>("send:", encoding: encoding) }
  }

  @Test("text that a generic caller sets by its address is stored as text")
  func borrowedText() throws {
    func set<Value: SendableMetatype>(_ value: Value, in call: Invocation) throws {
      try call.setArgument(value, at: 2)
    }
    let call = try Invocation(MethodSignature(method: "v@:*"))
    call.retainArguments()
    try unsafe "text".withCString { address in try unsafe set(Optional(address), in: call) }
    #expect(call.call.owns(2))
  }

  @Test("a value's type may have a long name")
  func longName() throws {
    struct Pair<Value> {}
    func send<Value>(_ value: Value.Type, _ depth: Int) throws {
      if depth > 0 { return try send(Pair<(Value, Value)>.self, depth - 1) }
      _ = try Message<Void, Pair<Value>>("send:")
    }
    try send(Int.self, 12)
  }

  @Test("a target that retains the message without an answer leaves no result")
  func keptWithoutAnswer() throws {
    final class Keeper: MessageForwarding, @unchecked Sendable {
      var calls: [Invocation] = []
      func responds(to selector: Selector) -> Bool { true }
      func signature(for invocation: Invocation) -> MethodSignature? {
        invocation.methodSignature
      }
      func forward(_ invocation: Invocation) { calls.append(invocation) }
    }
    let keeper = Keeper()
    let proxy = MulticastProxy()
    proxy.add(keeper)
    let words = try Message<Int, Int>("words:")
    let message = try Message<Letter, Letter>("send:")
    for _ in 0..<8 {
      // Leaves its bytes in memory that the next invocation may reuse.
      do {
        let call = try words.invocation(77)
        try call.setResult(0x7777)
      }
      #expect(throws: InvocationError.resultNotAvailable) { try message(Letter(), on: proxy) }
    }
    #expect(Part.alive.read { $0 } == 8)
    keeper.calls = []
    #expect(Part.alive.read { $0 } == 0)
  }
}
