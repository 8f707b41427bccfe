// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import Testing
import TypeEncodings

@testable import Invocations

/// Several tests count live objects.
@Suite("Stored calls", .serialized)
struct StoredCallTests {
  @Test(
    "a stored call has the message's name",
    arguments: [
      ("v@:", "stop"), ("v@:i", "stopAfter:"), ("v@:qd", "stopAfter:at:"), ("v@:d", "stopAt:"),
    ] as [(String, Selector)])
  func selector(encoding: String, name: Selector) throws {
    let call = try Invocation(MethodSignature(parsing: encoding))
    try call.setSelector(name)
    let stored = Self.stored(call)
    #expect(stored?.selector == name)
    #expect(stored?.invocation().selector == name)
  }

  @Test("a call without a selector is not stored")
  func withoutSelector() throws {
    #expect(try Self.stored(Invocation(MethodSignature(parsing: "v@:i"))) == nil)
  }

  @Test(
    "a call is stored only if its types say that its words and values are enough",
    arguments: [
      ("v@:i", true), ("v@:@*d", true), ("v@:", true), ("i@:", false), ("v@:^v", false),
      ("v@:@?", false), ("v@:{CGSize=dd}", false), ("v@:qqqqqqqqqq", false), ("v#:i", false),
    ] as [(String, Bool)])
  func kinds(encoding: String, isEnough: Bool) throws {
    let plan = try CallPlan(MethodSignature(parsing: encoding))
    #expect(plan.travels == isEnough)
  }

  @Test("a stored call owns objects and texts, and releases them with itself")
  func values() throws {
    let before = Tracked.live
    do {
      let call = try Invocation(MethodSignature(parsing: "v@:@*id@"), selector: "a:b:c:d:e:")
      try call.setArgument(Tracked("kept"), at: 2)
      try call.setArgument("text", at: 3)
      try call.setArgument(Int32(-4), at: 4)
      try call.setArgument(2.5, at: 5)
      let stored = try #require(Self.stored(call))
      try call.setArgument(nil, at: 2)
      try call.setArgument("other", at: 3)
      let copy = stored.invocation()
      #expect(try copy.argument(at: 2, as: Tracked.self).name == "kept")
      #expect(try copy.argument(at: 3, as: String.self) == "text")
      #expect(try copy.argument(at: 4, as: Int32.self) == -4)
      #expect(try copy.argument(at: 5, as: Double.self) == 2.5)
      #expect(try copy.argument(at: 6, as: Tracked?.self) == nil)
      #expect(Tracked.live == before + 1)
    }
    #expect(Tracked.live == before)
  }

  /// A Swift value with an object.
  struct Pair {
    let object: Tracked
    let number: Int
  }

  /// A call refers to its invocation without retaining it; a parameter lives until the return.
  private static func stored(_ invocation: Invocation) -> StoredCall? {
    StoredCall.make(invocation.call)
  }

  private static func recorded<each Argument>(
    _ selector: Selector, _ arguments: repeat each Argument
  ) throws -> Invocation {
    let fitted = try FittedPlan<NoResult, repeat each Argument>(method: nil)
    return try PreparedMessage(fitted).record(repeat each arguments, as: selector)
  }

  @Test("a stored call copies Swift values, and releases them with itself")
  func swiftValues() throws {
    let before = Tracked.live
    do {
      let stored = try #require(
        Self.stored(
          Self.recorded(
            "a:b:c:", Pair(object: Tracked("in"), number: 3), "a long text, on the heap", 7)))
      #expect(Tracked.live == before + 1)
      let copy = stored.invocation()
      #expect(try copy.argument(at: 2, as: Pair.self).object.name == "in")
      #expect(try copy.argument(at: 2, as: Pair.self).number == 3)
      #expect(try copy.argument(at: 3, as: String.self) == "a long text, on the heap")
      #expect(try copy.argument(at: 4, as: Int.self) == 7)
    }
    #expect(Tracked.live == before)
  }

  @Test("a call with a missing value is not stored, and the values kept before it are released")
  func missingValue() throws {
    let before = Tracked.live
    do {
      let plan = try FittedPlan<NoResult, Tracked, Pair>(method: nil).plan
      let call = Invocation(plan, comparedSelector: "a:b:")
      try call.setArgument(Tracked(), at: 2)
      #expect(Self.stored(call) == nil)
    }
    #expect(Tracked.live == before)
  }

  @Test("a lent variable is not stored")
  func variable() throws {
    #expect(try !FittedPlan<NoResult, InoutVariable<Int>>(method: nil).plan.travels)
  }

  /// A value that is aligned to more than a word.
  private struct Wide: Equatable { var numbers: SIMD2<UInt64> }

  @Test("values of any alignment are where their type expects them, in every record of a tape")
  func alignment() throws {
    let call = try Self.recorded("a:b:c:", true, Wide(numbers: [1, 2]), 5)
    let tape = CallTapes.Tape(call.plan, "a:b:c:")
    for stamp in 0..<20 { try tape.append(call.call, stamp: UInt64(2 * stamp)) }
    for index in 0..<20 {
      #expect(tape.stamp(at: index) == UInt64(2 * index))
      #expect(
        try tape.invocation(at: index).argument(at: 3, as: Wide.self) == Wide(numbers: [1, 2]))
      #expect(try tape.invocation(at: index).argument(at: 4, as: Int.self) == 5)
    }
    #expect(tape.stride % 16 == 0)
  }
}
