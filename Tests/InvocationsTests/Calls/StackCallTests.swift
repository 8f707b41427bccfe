// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Testing
import TypeEncodings

@testable import Invocations

private final class Token: CallObject, @unchecked Sendable {
  let died: Guarded<Int>
  init(_ died: Guarded<Int>) { self.died = died }
  deinit { died.withLock { $0 += 1 } }
}

extension CallPlan {
  /// Sends a message without arguments.
  fileprivate func send(_ selector: Selector, to target: AnyObject?) throws -> Int32 {
    try withCall { call in
      try call.send(compared: selector, to: target)
      return try call.fittingAnswer(as: Int32.self, Place(of: Int32.self, isResult: true))
    }
  }
}

@Suite("Calls on the stack")
struct StackCallTests {
  @Test("wide values are passed at any alignment of the frame: __int128, long double")
  func wide() throws {
    let functions = FunctionTable()
    try functions.register("sum") { (a: Int128, b: LongDouble, c: Int128) -> Int128 in
      a + c + Int128(Double(b))
    }
    // The frames begin at every multiple of eight bytes on the caller's stack.
    func call(_ depth: Int) throws -> Int128 {
      try withUnsafeTemporaryAllocation(byteCount: 8 + 8 * depth, alignment: 8) { _ in
        try functions.call(
          "sum", Int128(1) << 100, LongDouble(2.5), Int128(-7), returning: Int128.self)
      }
    }
    for depth in 0..<4 { #expect(try call(depth) == Int128(1) << 100 - 7 + 2) }
  }

  @Test("objects and strings are released, after an answer and after an error")
  func owning() throws {
    let died = Guarded(0)
    let functions = FunctionTable()
    try functions.register("show") { (text: String, token: AnyCallObject) -> String in
      "\(text) \(type(of: token.object))"
    }
    try functions.register("fail") { (_: AnyCallObject) throws in throw InvocationError.outOfMemory
    }
    for _ in 0..<3 {
      let answer = try functions.call(
        "show", "hello", AnyCallObject(Token(died)), returning: String.self)
      #expect(answer == "hello Token")
    }
    #expect(died.withLock { $0 } == 3)
    #expect(throws: InvocationError.outOfMemory) {
      try functions.call("fail", AnyCallObject(Token(died)))
    }
    #expect(died.withLock { $0 } == 4)
  }

  @Test("a call too large for the stack uses other memory; 70 objects are released")
  func large() throws {
    let died = Guarded(0)
    let plan = try CallPlan.shared(
      for: MethodSignature(parsing: "v" + String(repeating: "@", count: 70)))
    try plan.withCall { call in
      for index in 0..<70 {
        try call.setFitting(Token(died), Place(of: Token.self), at: index)
      }
      #expect(died.withLock { $0 } == 0)
    }
    #expect(died.withLock { $0 } == 70)
  }

  @Test("an object that forwards may retain the invocation, with all its values")
  func keeping() throws {
    final class Keeper: MessageForwarding {
      var kept: [Invocation] = []
      func methodSignature(for selector: Selector) -> MethodSignature? {
        try? MethodSignature("v@:*@")
      }
      func forward(_ invocation: Invocation) throws { kept.append(invocation) }
    }
    let died = Guarded(0)
    let keeper = Keeper()
    let plan = try CallPlan.shared(for: MethodSignature("v@:*@"))
    for index in 0..<4 {
      try plan.withCall { call in
        try call.setFitting("text \(index)", Place(of: String.self), at: 2)
        try call.setFitting(Token(died), Place(of: Token.self), at: 3)
        try call.send(compared: "keep:token:", to: keeper)
      }
    }
    #expect(died.withLock { $0 } == 0)
    #expect(Set(keeper.kept.map { ObjectIdentifier($0) }).count == 4)
    #expect(
      try keeper.kept.map { try $0.argument(at: 2, as: String.self) }
        == ["text 0", "text 1", "text 2", "text 3"])
    #expect(keeper.kept.allSatisfy { $0.target == nil })
    keeper.kept = []
    #expect(died.withLock { $0 } == 4)
  }
}

@Suite("Cached methods")
struct MethodLookupTests {
  private final class Counter: CallObject, @unchecked Sendable { var value: Int32 = 0 }

  @Test("the next send sees a change, also after a thousand sends of the old method")
  func changes() throws {
    let table = MethodTable.of(Counter.self)
    let plan = try CallPlan.shared(for: MethodSignature("i@:"))
    let counter = Counter()
    func send() throws -> Int32 {
      try plan.send("value", to: counter)
    }
    for round in 0..<20 as Range<Int32> {
      try table.register("value", replacing: true) { (_: Counter) -> Int32 in round }
      for _ in 0..<50 { #expect(try send() == round) }
    }
    table.remove(Selector("value"))
    #expect(throws: InvocationError.self) { try send() }
    #expect(throws: InvocationError.self) { try send() }
  }

  // In a separate process: a concurrent send of another thread would also hold the closure.
  @Test("a replaced closure is released at once, or after its own call")
  func releasing() async {
    await #expect(processExitsWith: .success) {
      final class Captured: Sendable {}
      final class Replacing: CallObject, @unchecked Sendable {}
      weak var captured: Captured?
      let table = MethodTable.of(Replacing.self)
      let other = try Implementation { (_: Replacing) -> Int32 in 2 }
      let plan = try CallPlan.shared(for: MethodSignature("i@:"))
      func register() throws {
        let object = Captured()
        captured = object
        try table.register("value", replacing: true) { (_: Replacing) -> Int32 in
          // During its own call the closure must stay.
          table.replace(Selector("value"), other)
          return withExtendedLifetime(object) { 1 }
        }
      }
      try register()
      #expect(captured != nil)
      #expect(try plan.send("value", to: Replacing()) == 1)
      #expect(captured == nil)
      try register()
      table.replace(Selector("value"), other)
      #expect(captured == nil)
    }
  }

  @Test("each of thousands of selectors and classes has its own method")
  func many() throws {
    final class One: CallObject, @unchecked Sendable {}
    final class Two: CallObject, @unchecked Sendable {}
    let plan = try CallPlan.shared(for: MethodSignature("i@:"))
    for index in 0..<2000 as Range<Int32> {
      try MethodTable.of(One.self).register(Selector(interning: "many\(index)")) {
        (_: One) -> Int32 in index
      }
      try MethodTable.of(Two.self).register(Selector(interning: "many\(index)")) {
        (_: Two) -> Int32 in -index
      }
    }
    let (one, two) = (One(), Two())
    for index in 0..<2000 as Range<Int32> {
      let selector = try Selector(interning: "many\(index)")
      for (target, sign) in [(one as AnyObject, 1), (two, -1)] as [(AnyObject, Int32)] {
        #expect(try plan.send(selector, to: target) == sign * index)
      }
    }
  }
}
