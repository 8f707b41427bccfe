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

private final class Box: CallObject, @unchecked Sendable {
  var seen: [String] = []
}

@Suite("Invocations on the stack")
struct ScopedInvocationTests {
  /// Once for all tests, which run in parallel.
  private static let registered: Result<Void, any Error> = Result {
    let table = MethodTable.of(Box.self)
    try table.register("add:to:") { (_: Box, a: Int32, b: Int32) -> Int32 in a + b
    }
    try table.register("text:token:") {
      (box: Box, text: String, token: AnyCallObject) -> String in
      box.seen.append("\(text) \(type(of: token.object))")
      return text + "!"
    }
    try table.register("fail:") { (_: Box, _: String) throws in
      throw InvocationError.outOfMemory
    }
  }

  init() throws { try Self.registered.get() }

  @Test("a scoped invocation is set, sent and read; unset arguments are zero; nil returns zero")
  func sending() throws {
    let plan = try CallPlan.shared(for: MethodSignature("i@:ii"))
    let add = Selector("add:to:")
    let sum = try plan.withInvocation { call in
      try call.setArgument(Int32(2), at: 2)
      #expect(try call.argument(at: 3, as: Int32.self) == 0)
      try call.setArgument(Int32(3), at: 3)
      try call.send(add, to: Box())
      return try call.result(as: Int32.self)
    }
    #expect(sum == 5)
    let zero = try plan.withInvocation { call in
      try call.setArgument(Int32(2), at: 2)
      try call.send(add, to: nil)
      return try call.result(as: Int32.self)
    }
    #expect(zero == 0)
  }

  @Test("wide values are passed at any alignment of the frame: __int128, long double, structures")
  func wide() throws {
    final class Wide: CallObject, @unchecked Sendable {}
    let table = MethodTable.of(Wide.self)
    try table.register("a:b:c:") { (_: Wide, a: Int128, b: LongDouble, c: Int128) -> Int128 in
      a + c + Int128(Double(b))
    }
    let plan = try CallPlan.shared(for: MethodSignature("t@:tDt"))
    // The frames begin at every multiple of eight bytes on the caller's stack.
    func call(_ depth: Int) throws -> Int128 {
      try withUnsafeTemporaryAllocation(byteCount: 8 + 8 * depth, alignment: 8) { _ in
        try plan.withInvocation { call in
          try call.setArgument(Int128(1) << 100, at: 2)
          try call.setArgument(LongDouble(2.5), at: 3)
          try call.setArgument(Int128(-7), at: 4)
          #expect(try call.argument(at: 3, as: LongDouble.self) == LongDouble(2.5))
          try call.send(Selector("a:b:c:"), to: Wide())
          return try call.result(as: Int128.self)
        }
      }
    }
    for depth in 0..<4 { #expect(try call(depth) == Int128(1) << 100 - 7 + 2) }
    let doubles = try MethodSignature(parsing: "d" + String(repeating: "d", count: 12))
    let sum = try Implementation(doubles) { call in
      var sum = 0.0
      for index in 0..<12 { sum += try call.argument(at: index, as: Double.self) }
      try call.setResult(sum)
    }
    let total = try CallPlan.shared(for: doubles).withInvocation { call in
      for index in 0..<12 { try call.setArgument(Double(index), at: index) }
      try call.invoke(using: sum)
      return try call.result(as: Double.self)
    }
    #expect(total == 66)
  }

  @Test("a mismatch is refused before anything is called")
  func refusing() throws {
    let plan = try CallPlan.shared(for: MethodSignature("i@:ii"))
    try plan.withInvocation { call in
      #expect(throws: InvocationError.self) { try call.setArgument(2.0, at: 2) }
      #expect(throws: InvocationError.self) { try call.setArgument(Int32(2), at: 4) }
      #expect(throws: InvocationError.self) { try call.setArgument(Int32(2), at: -1) }
      #expect(throws: InvocationError.self) { try call.send(Selector("one:"), to: Box()) }
      #expect(throws: InvocationError.resultNotAvailable) { try call.result(as: Int32.self) }
      #expect(throws: InvocationError.nullFunction) { try call.invoke(using: nil) }
    }
  }

  @Test("objects and strings are released, after an answer and after an error")
  func owning() throws {
    let died = Guarded(0)
    let box = Box()
    let plan = try CallPlan.shared(for: MethodSignature("*@:*@"))
    for _ in 0..<3 {
      let answer = try plan.withInvocation { call in
        try call.setArgument("hello", at: 2)
        try call.setArgument(AnyCallObject(Token(died)), at: 3)
        try call.send(Selector("text:token:"), to: box)
        return try call.result(as: String.self)
      }
      #expect(answer == "hello!")
    }
    #expect(box.seen == ["hello Token", "hello Token", "hello Token"])
    #expect(died.withLock { $0 } == 3)
    let failing = try CallPlan.shared(for: MethodSignature("v@:*"))
    #expect(throws: InvocationError.outOfMemory) {
      try failing.withInvocation { call in
        try call.setArgument("gone", at: 2)
        try call.send(Selector("fail:"), to: box)
      }
    }
  }

  @Test("a receiver is released when another replaces it, and none is left")
  func receivers() throws {
    let died = Guarded(0)
    let box = Box()
    let plan = try CallPlan.shared(for: MethodSignature("i@:ii"))
    let add = Selector("add:to:")
    for target in [box, nil] {
      try plan.withInvocation { call in
        try call.setArgument(AnyCallObject(Token(died)), at: 0)
        for _ in 0..<3 { try call.send(add, to: target) }
        if target != nil {
          #expect(throws: InvocationError.self) {
            try call.argument(at: 0, as: AnyCallObject.self)
          }
        }
      }
    }
    #expect(died.withLock { $0 } == 2)
    // After one release too many, the target would be deallocated here.
    #expect(box.seen.isEmpty)
  }

  @Test("a call too large for the stack uses other memory; 70 objects are released")
  func large() throws {
    let died = Guarded(0)
    let plan = try CallPlan.shared(
      for: MethodSignature(parsing: "v" + String(repeating: "@", count: 70)))
    try plan.withInvocation { call in
      for index in 0..<70 { try call.setArgument(AnyCallObject(Token(died)), at: index) }
      #expect(died.withLock { $0 } == 0)
      try call.setArgument(AnyCallObject(Token(died)), at: 69)
      #expect(died.withLock { $0 } == 1)
    }
    #expect(died.withLock { $0 } == 71)
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
      try plan.withInvocation { call in
        try call.setArgument("text \(index)", at: 2)
        try call.setArgument(AnyCallObject(Token(died)), at: 3)
        try call.send(Selector("keep:token:"), to: keeper)
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
      try plan.withInvocation { call in
        try call.send(Selector("value"), to: counter)
        return try call.result(as: Int32.self)
      }
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
      let value = try plan.withInvocation { call in
        try call.send(Selector("value"), to: Replacing())
        return try call.result(as: Int32.self)
      }
      #expect(value == 1)
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
        let value = try plan.withInvocation { call in
          try call.send(selector, to: target)
          return try call.result(as: Int32.self)
        }
        #expect(value == sign * index)
      }
    }
  }
}
