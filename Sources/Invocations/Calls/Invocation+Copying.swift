// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import TypeEncodings

// Copies of an invocation, and what it owns of its values.
extension Invocation {
  /// Retains every borrowed object, and copies every borrowed C string. Arguments that are set
  /// later are retained in the same way. Further calls have no effect.
  ///
  /// Memory that a `^` points at, or that a structure refers to, is not retained or copied.
  ///
  /// - Parameter includingTarget: false leaves the receiver borrowed, for an invocation that its
  ///   own target retains. The two would otherwise retain each other and never die.
  public func retainArguments(includingTarget: Bool = true) {
    call.retainsArguments = true
    if includingTarget { call.retainsTarget = true }
    for index in 0..<plan.argumentCount where call.isRetaining(index) && !call.owns(index) {
      call.retain(index)
    }
    call.keepResult()
  }

  /// Makes an invocation with the same arguments, target, selector and result.
  ///
  /// The copy owns its values, whether this invocation does or not: objects are retained, and C
  /// strings copied. Memory behind pointers is shared.
  public func copy() -> Invocation {
    let copy = duplicate(includingTarget: true)
    // This invocation may be lent, and its borrowed references end with the loan.
    copy.keepArguments()
    copy.call.keepResult()
    return copy
  }

  /// Makes a copy that owns what this invocation owns, and borrows the rest.
  func duplicate(includingTarget: Bool) -> Invocation {
    let copy = Invocation(plan)
    // SAFETY: both frames have the size that the plan says.
    unsafe copy.call.copyFrame(from: call.frame)
    copy.call.retainsArguments = call.retainsArguments
    copy.call.retainsTarget = call.retainsTarget
    if !includingTarget, plan.isMethod { copy.call.slot(0).word = 0 }
    for index in 0..<plan.argumentCount where call.owns(index) { copy.call.retain(index) }
    if let keeper { copy.setKeeper(keeper) }
    copy.call.hasResult = call.hasResult
    if call.resultOwnership != .none { copy.call.keepResult() }
    return copy
  }

  /// Copies the invocation, without its target, to carry the same message on. The copy shares the
  /// message number, so a message that comes back to an object that is forwarding it is detected as
  /// a cycle.
  package func carryingCopy() -> Invocation {
    let copy = duplicate(includingTarget: false)
    _ = call.message
    copy.call.carry(messageOf: call)
    if hasLuggage { copy.setLuggage(path, keeper) }
    return copy
  }

  /// Whether the signature has a result.
  package var returnsValue: Bool { call.returnsValue }

  /// Copies the result of another invocation of the same plan.
  package func adoptResult(from other: Invocation) {
    let old = call.detachResult()
    defer { call.letGo(old) }
    call.copyAnswer(of: other.call)
  }

  /// This invocation, or a new one that has only the result if other code may change this one.
  package func unsharedAnswer() -> Invocation {
    SpareInvocations.isReusable(self) ? self : call.copiedAnswer()
  }

  /// Retains or copies the borrowed arguments, once. For a lent invocation that its borrower may
  /// retain.
  package func keepArguments() { call.keepArguments() }
}
