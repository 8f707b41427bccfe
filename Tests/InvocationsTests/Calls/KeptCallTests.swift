// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import ForwardingTestSupport
import Testing
import TypeEncodings

@testable import Invocations

/// Several tests count live objects.
@Suite("Kept calls", .serialized)
struct KeptCallTests {
  @Test("a call without a selector, and one of a function, is not kept")
  func withoutSelector() throws {
    for encoding in ["v@:i", "iii", "v"] {
      let call = try Invocation(MethodSignature(parsing: encoding))
      #expect(throws: InvocationError.selectorNotSet) { try KeptCall.of(call.call) }
    }
  }

  @Test(
    "the types of a call say whether its values are enough to make it later",
    arguments: [
      ("v@:i", true), ("v@:@*d", true), ("v@:", true), ("i@:", false), ("v@:^v", false),
      ("v@:@?", false), ("v@:{CGSize=dd}", false), ("v@:qqqqqqqqqq", true), ("v#:i", false),
    ] as [(String, Bool)])
  func kinds(encoding: String, isEnough: Bool) throws {
    #expect(try CallPlan.shared(for: MethodSignature(parsing: encoding)).travels == isEnough)
  }

  @Test("words in registers and on the stack, and structures in both, are kept")
  func words() throws {
    let call = try Invocation(
      MethodSignature(parsing: "i@:qqqqdfq{CGSize=dd}{Large=qqq}"), selector: "a:b:c:d:e:f:g:h:i:")
    for (index, number) in [1, 2, 3, 4, 7].enumerated() {
      try call.setArgument(Int64(number), at: number == 7 ? 8 : 2 + index)
    }
    try call.setArgument(5.5, at: 6)
    try call.setArgument(Float(6.5), at: 7)
    for index in 9...10 {
      let slot = call.call.slot(index)
      unsafe slot.store(bytes: (0..<slot.size).map { UInt8($0 + index) })
    }
    let copy = try KeptCall.of(call.call).invocation()
    for index in 2...10 {
      #expect(copy.call.slot(index).bytes == call.call.slot(index).bytes, "\(index)")
    }
    #expect(copy.selector == call.selector)
  }

  @Test("a kept call owns objects and texts, and releases them with itself")
  func values() throws {
    let before = Tracked.live
    do {
      let call = try Invocation(MethodSignature(parsing: "v@:@*id@"), selector: "a:b:c:d:e:")
      try call.setArgument(Tracked("kept"), at: 2)
      try call.setArgument("text", at: 3)
      try call.setArgument(Int32(-4), at: 4)
      try call.setArgument(2.5, at: 5)
      let kept = try KeptCall.of(call.call)
      try call.setArgument(nil, at: 2)
      try call.setArgument("other", at: 3)
      let copy = kept.invocation()
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

  /// A value that is aligned to more than a word.
  private struct Wide: Equatable { var numbers: SIMD2<UInt64> }

  private static func recorded<each Argument>(
    _ selector: Selector, _ arguments: repeat each Argument
  ) throws -> Invocation {
    let fitted = try FittedPlan<NoResult, repeat each Argument>(method: nil)
    return try PreparedMessage(fitted).record(repeat each arguments, as: selector)
  }

  @Test("a list of calls owns all of their values")
  func list() throws {
    let before = Tracked.live
    do {
      var list: [KeptCall] = []
      for number in 0..<300 {
        let call = try Self.recorded(
          number % 100 < 90 ? "a:b:c:d:" : "e:f:g:h:",
          Pair(object: Tracked("in"), number: number), "a long text, on the heap",
          Wide(numbers: [1, UInt64(number)]), number)
        list.append(try KeptCall.of(call.call))
      }
      #expect(Tracked.live == before + 300)
      for (number, kept) in list.enumerated() {
        let copy = kept.invocation()
        #expect(kept.selector == (number % 100 < 90 ? "a:b:c:d:" : "e:f:g:h:"))
        #expect(try copy.argument(at: 2, as: Pair.self).number == number)
        #expect(try copy.argument(at: 3, as: String.self) == "a long text, on the heap")
        #expect(try copy.argument(at: 4, as: Wide.self).numbers[1] == UInt64(number))
        #expect(try copy.argument(at: 5, as: Int.self) == number)
      }
    }
    #expect(Tracked.live == before)
  }

  @Test("an invocation with any other reference to it, also a weak or unowned one, is not reused")
  func soleReference() {
    final class Object { weak var other: Object? }
    func isSole(_ object: Unmanaged<Object>) -> Bool {
      unsafe fwd_object_is_sole(object.toOpaque()) != 0
    }
    let holder = Object()
    let own = Unmanaged.passRetained(Object())
    #expect(isSole(own))
    _ = own.retain()
    #expect(!isSole(own))
    own.release()
    #expect(isSole(own))
    let reference = ObjectReference(own.takeUnretainedValue(), isStrong: false)
    #expect(!isSole(own))
    withExtendedLifetime(reference) {}
    holder.other = own.takeUnretainedValue()
    #expect(!isSole(own))
    holder.other = nil
    own.release()
  }

  @Test(
    "a spare invocation is reused in this process",
    .disabled(
      if: Sanitizer.current != nil || FWD_IS_CHECKED != 0,
      "a sanitizer and a checked build see each object end"))
  func spares() throws {
    let plan = try CallPlan.shared(for: MethodSignature(parsing: "v@:i"))
    func spare() -> ObjectIdentifier { SpareInvocations.withOne(plan) { ObjectIdentifier($0) } }
    #expect(spare() == spare())
  }
}
