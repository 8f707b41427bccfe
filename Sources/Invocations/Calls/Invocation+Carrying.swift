// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims
import TypeEncodings

/// Operations that deliveries and forwarding use to pass a message on to other objects and threads.
extension Invocation {
  /// Makes an invocation of a method with a selector that fits the plan.
  package convenience init(_ plan: CallPlan, comparedSelector selector: Selector) {
    self.init(plan)
    call.setSelector(selector)
  }

  /// Copies the invocation, without its target, to carry the same message on. The copy shares the
  /// message number, so a message that comes back to an object that is forwarding it is detected as
  /// a cycle.
  package func carryingCopy() -> Invocation {
    let copy = duplicate(includingTarget: false)
    _ = call.message
    copy.call.carry(messageOf: call)
    if hasLuggage { copy.setPath(path) }
    return copy
  }

  /// Whether the signature has a result.
  package var returnsValue: Bool { call.returnsValue }

  /// Discards the result, as a call that throws does.
  package func forgetAnswer() { call.forgetResult() }

  /// Throws if an argument does not exist or cannot be set now.
  package func checkSettable(_ index: Int) throws(InvocationError) {
    _ = try call.checkedSlot(index)
    try call.checkSettable(index)
  }

  /// Sets the result to zero, as for a message to nil.
  package func answerWithZero() { call.answerWithZero() }

  /// Copies the result of another invocation of the same plan. A result that the other one owns is
  /// owned here too.
  package func adoptResult(from other: Invocation) {
    let old = call.detachResult()
    defer { call.letGo(old) }
    guard other.call.hasResult, returnsValue else { return }
    // SAFETY: equal plans place their results alike, and both frames are whole.
    unsafe call.copyResult(from: other.call.frame)
    call.hasResult = true
    if other.call.resultOwnership != .none { call.keepResult() }
  }

  /// This invocation, or a new one that has only the result if other code may change this one.
  package func unsharedAnswer() -> Invocation {
    if SpareInvocations.isReusable(self) { return self }
    let copy = Invocation(plan)
    copy.adoptResult(from: self)
    copy.call.keepResult()
    return copy
  }
}

/// The result type of a message without a result: `v`.
///
/// ```swift
/// let saved = try Message<NoResult, Int32>("didSave:")
/// saved.signature  // v@:i
/// ```
@frozen
public struct NoResult: CallValue, Hashable, Sendable {
  /// Makes the only value.
  @inlinable public init() {}

  public static var typeEncoding: String { "v" }

  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts { ValueFacts(.nothing) }

  @inlinable @unsafe public func store(in slot: ValueSlot) throws(InvocationError) {}

  @inlinable @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> NoResult { NoResult() }
}
