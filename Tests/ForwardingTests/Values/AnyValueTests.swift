// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingTestSupport
import Invocations
import Testing
import TypeEncodings

/// An object of a value, whose live instances are counted.
private final class Part: Sendable {
  static let alive = Guarded(0)
  init() { Self.alive.withLock { $0 += 1 } }
  deinit { Self.alive.withLock { $0 -= 1 } }
}

private struct Letter: Equatable, Sendable {
  var text = "kept"
  var number: Int
  var parts = [Part()]
  static func == (one: Letter, other: Letter) -> Bool {
    one.text == other.text && one.number == other.number && one.parts.count == other.parts.count
  }
}

private enum Shape: Equatable, Sendable {
  case point
  case circle(radius: Double)
  case named(String, [Int])
}

private struct Large: Equatable, Sendable {
  var words = (
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24
  )
  var last = "end"
  static func == (one: Large, other: Large) -> Bool {
    one.words.23 == other.words.23 && one.last == other.last
  }
}

private struct Nothing: Equatable, Sendable {}

private struct Generic<Value: Equatable & Sendable>: Equatable, Sendable { var value: Value }

/// Has an empty carrier, although it has a stored property.
private struct Hollow: CarriedValue, Equatable, Sendable {
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

private protocol Named { var name: String { get } }
private struct Somebody: Named, Sendable { var name = "somebody" }

/// A class without any declarations for messages.
private class Desk: @unchecked Sendable {
  var seen: [String] = []
}

private final class HighDesk: Desk, @unchecked Sendable {}

@Suite("Values of any Swift type", .serialized)
struct AnyValueTests {
  /// Sends a value in each possible way through closures that return it.
  private func roundTrip<Value: Equatable & Sendable & SendableMetatype>(
    _ value: Value
  ) async throws {
    let target = ClosureTarget()
    try target.register("echo:") { (value: Value) in value }
    #expect(try Message<Value, Value>("echo:")(value, on: target) == value)
    let two = ClosureTarget()
    let arrived = Guarded<[Value]>([])
    try two.register("echo:number:") { (value: Value, number: Int) throws -> Value in
      arrived.withLock { $0.append(value) }
      if number != 1 { throw Refusal() }
      return value
    }
    let message = try Message<Value, Value, Int>("echo:number:")
    #expect(try message(value, 1, on: two) == value)
    #expect(throws: Refusal.self) { try message(value, 2, on: two) }
    let call = try message.invocation(value, 1)
    try call.invoke(on: two)
    #expect(try call.result(as: Value.self) == value)
    #expect(try call.argument(at: 2, as: Value.self) == value)
    #expect(call.arguments[0] as? Value == value)
    #expect(call.copy().resultValue as? Value == value)
    let (proxy, queue) = (MulticastProxy(), DispatchQueue(label: "values"))
    proxy.duplicateRule = .allow
    for _ in 0..<2 { proxy.add(two, on: .blocking(queue)) }
    #expect(try message(value, 1, on: proxy) == value)
    #expect(throws: Refusal.self) { try message(value, 2, on: proxy) }
    #expect(try message.first(value, 1, on: proxy) == value)
    #expect(try message.all(value, 1, on: proxy) == [value, value])
    #expect(try message.report(value, 1, on: proxy).answers == [value, value])
    #expect(try await message.all(value, 1, on: proxy, concurrently: true) == [value, value])
    proxy.removeAll()
    proxy.add(two, on: .queue(queue))
    try Message<Void, Value, Int>("echo:number:")(value, 1, on: proxy)
    queue.sync {}
    #expect(arrived.read { $0 } == Array(repeating: value, count: 15))
    withExtendedLifetime(two) {}
  }

  private struct Refusal: Error {}

  @Test("values of Swift types are returned unchanged")
  func roundTrips() async throws {
    try await roundTrip(Shape.circle(radius: 2))
    try await roundTrip(Shape.named("a", [1, 2]))
    try await roundTrip(Large())
    try await roundTrip(Nothing())
    try await roundTrip(SIMD16<Double>(repeating: 3))
    try await roundTrip(7 as Int32)
    try await roundTrip(Int128.max)
    try await roundTrip(Generic(value: "text"))
    try await roundTrip([1: ["one"], 2: ["two"]])
    try await roundTrip(Optional<[String]>.none)
    try await roundTrip(Optional(Shape.point))
    try await roundTrip(Character("t"))
    // No C string can represent all of them.
    for text in ["", "short", "a text that is too long to be small", "a \0 inside", "zażółć 🌍"] {
      try await roundTrip(text)
      try await roundTrip(Optional(text))
    }
    try await roundTrip(String?.none)
  }

  @Test("values live as long as they are referenced, however they are sent")
  func lifetimes() async throws {
    try await roundTrip(Letter(text: "a", number: 1, parts: [Part(), Part()]))
    #expect(Part.alive.read { $0 } == 0)
    do {
      let call = try Message<Letter, Letter>("send:").invocation(Letter(number: 1))
      #expect(Part.alive.read { $0 } == 1)
      try call.setArgument(Letter(number: 2), at: 2)
      try call.setResult(Letter(number: 3))
      #expect(Part.alive.read { $0 } == 2)
      let copy = call.copy()
      try call.setResult(Letter(number: 4))
      #expect(Part.alive.read { $0 } == 3)
      withExtendedLifetime(copy) {}
    }
    #expect(Part.alive.read { $0 } == 0)
  }

  @Test("values of protocols, closures and tuples can be sent")
  func existentials() throws {
    let target = ClosureTarget()
    nonisolated(unsafe) var seen: [String] = []
    try target.register("take:and:also:") {
      (named: any Named & Sendable, closure: @escaping @Sendable () -> String, pair: (Int, String))
      in
      seen = [named.name, closure(), "\(pair.0) \(pair.1)"]
    }
    let message = try Message<
      Void, any Named & Sendable, @Sendable () -> String, (Int, String)
    >("take:and:also:")
    try message(Somebody(), { "closed" }, (3, "three"), on: target)
    #expect(seen == ["somebody", "closed", "3 three"])
  }

  @Test("objects of any class can be sent")
  func classes() throws {
    let target = ClosureTarget()
    nonisolated(unsafe) var seen: [ObjectIdentifier] = []
    try target.register("sit:for:") { (desk: Desk, letter: Letter) in
      seen.append(ObjectIdentifier(desk))
    }
    let message = try Message<Void, Desk, Letter>("sit:for:")
    let (desk, high) = (Desk(), HighDesk())
    let letter = Letter(text: "a", number: 1, parts: [])
    try message(desk, letter, on: target)
    try message(high, letter, on: target)
    #expect(seen == [ObjectIdentifier(desk), ObjectIdentifier(high)])
    try target.register("high:for:") { (desk: HighDesk, letter: Letter) in }
    #expect(
      throws: InvocationError.wrongClass(
        expected: SwiftType(HighDesk.self), given: SwiftType(Desk.self))
    ) {
      try Message<Void, Desk, Letter>("high:for:")(desk, letter, on: target)
    }
  }

  @Test("values of two types with one name are kept apart")
  func sameName() throws {
    let target = ClosureTarget()
    try target.register("take:") { (_: Twins.First.Twin) in }
    try Message<Void, Twins.First.Twin>("take:")(Twins.First.Twin(), on: target)
    #expect(throws: InvocationError.self) {
      try Message<Void, Generic<Int>>("take:")(Generic(value: 1), on: target)
    }
  }

  /// Retains the messages that it gets, and leaves them without an answer.
  private final class Keeper: MessageForwarding, @unchecked Sendable {
    var calls: [Invocation] = []
    func responds(to selector: Selector) -> Bool { true }
    func signature(for invocation: Invocation) -> MethodSignature? { invocation.methodSignature }
    func forward(_ invocation: Invocation) { calls.append(invocation) }
  }

  @Test("a target that retains the invocation retains its values, and there is no stale result")
  func kept() throws {
    let keeper = Keeper()
    let proxy = MulticastProxy()
    proxy.add(keeper)
    let words = try Message<Int, Int>("words:")
    let message = try Message<Letter, Letter>("send:")
    for number in 0..<8 {
      // Leaves its bytes in memory that the next invocation may reuse.
      do {
        let call = try words.invocation(77)
        try call.setResult(0x7777)
      }
      #expect(throws: InvocationError.resultNotAvailable) {
        try message(Letter(number: number), on: proxy)
      }
    }
    #expect(Part.alive.read { $0 } == 8)
    #expect(try keeper.calls[5].argument(at: 2, as: Letter.self).number == 5)
    keeper.calls = []
    #expect(Part.alive.read { $0 } == 0)
  }

  @Test("the result of a closure is discarded by a message that wants none")
  func unwantedResults() throws {
    nonisolated(unsafe) var seen: Set<Int> = []
    nonisolated(unsafe) var texts: Set<String> = []
    try MethodTable.of(HighDesk.self).register("see:") { (_: HighDesk, id: Int) in seen.insert(id) }
    let target = ClosureTarget()
    try target.register("see:") { (id: Int) in seen.insert(id + 1) }
    try target.register("read:") { (text: String) in texts.insert(text) }
    let see = try Message<NoResult, Int>("see:")
    let desk = HighDesk()
    try see(1, on: desk)
    try see(2, on: target)
    let both = MulticastProxy()
    both.add(desk, strongly: true)
    both.add(target, strongly: true)
    try see(5, on: both)
    #expect(seen == [1, 3, 5, 6])
    try Message<Void, String>("read:")("text", on: target)
    #expect(texts == ["text"])
    #expect(
      try Message<(inserted: Bool, memberAfterInsert: Int), Int>("see:")(9, on: desk).inserted)
    let (later, queue) = (MulticastProxy(), DispatchQueue(label: "unwanted"))
    later.add(target, strongly: true, on: .queue(queue))
    try see(10, on: later)
    queue.sync {}
    #expect(seen.contains(11))
    #expect(throws: InvocationError.self) { try Message<Double, Int>("see:")(1, on: desk) }
  }

  @Test("values can be arguments and results of functions by name")
  func functions() throws {
    let functions = FunctionTable()
    try functions.register("area") { (shape: Shape) -> Double? in
      if case .circle(let radius) = shape { radius * radius } else { nil }
    }
    #expect(try functions.call("area", Shape.circle(radius: 3), returning: Double?.self) == 9)
    #expect(try functions.call("area", Shape.point, returning: Double?.self) == nil)
    #expect(throws: InvocationError.self) {
      try functions.call("area", Large(), returning: Double?.self)
    }
  }

  @Test("a missing answer is nil if the result is optional, and an error if not")
  func nobody() throws {
    #expect(try Message<[String]?>("names")(on: nil) == nil)
    #expect(throws: InvocationError.missingValue(index: nil)) {
      try Message<Shape>("shape")(on: nil)
    }
  }

  @Test("values describe themselves")
  func description() throws {
    let call = try Message<Void, Shape>("draw:").invocation(.circle(radius: 2))
    #expect(call.description.contains(" draw: "))
    #expect(call.description.contains("Shape.circle(radius: 2.0)"))
    #expect(call.methodSignature.description == "v@:^{ForwardingTests.Shape}")
  }

  @Test("values of other types are refused")
  func mismatch() throws {
    let target = ClosureTarget()
    try target.register("draw:") { (shape: Shape) in }
    #expect(throws: InvocationError.self) { try Message<Void, Large>("draw:")(Large(), on: target) }
    let call = try Message<Void, Shape>("draw:").invocation(.point)
    #expect(throws: InvocationError.self) { try call.setArgument(Large(), at: 2) }
    #expect(throws: InvocationError.self) { try call.setArgument(5, at: 2) }
    #expect(throws: InvocationError.self) { try call.argument(at: 2, as: Large.self) }
    // An invocation with the same encoding as text has addresses, and no values.
    let other = try Invocation(parsing: "\(call.methodSignature)")
    try other.setSelector("draw:")
    #expect(throws: InvocationError.self) { try other.invoke(on: target) }
    #expect(throws: InvocationError.missingValue(index: 2)) {
      let fresh = Invocation(call.plan)
      try fresh.setSelector("draw:")
      try fresh.invoke(on: target)
    }
  }

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
    var bytes = "text".utf8CString.map { $0 }
    try unsafe bytes.withUnsafeBufferPointer { try unsafe set($0.baseAddress, in: call) }
    bytes[0] = 0
    #expect(try call.argument(at: 2, as: String.self) == "text")
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
}

private enum Twins { enum First { struct Twin: Sendable {} } }
