import CForwardingShims
import TypeEncodings

extension Invocation {
  /// Retains every borrowed object, and copies every borrowed C string; arguments that are set
  /// later are kept in the same way. Calling it again changes nothing.
  ///
  /// What a `^` points at, or a structure holds, is never followed.
  ///
  /// - Parameter includingTarget: false leaves the receiver borrowed, for invocations that their
  ///   own target keeps; both would live for ever otherwise.
  public func retainArguments(includingTarget: Bool = true) {
    record.retainsArguments = true
    if includingTarget { record.retainsTarget = true }
    for index in 0..<plan.argumentCount where record.isRetaining(index) && !record.owns(index) {
      record.retain(index)
    }
    if record.hasResult { record.keepResult() }
  }

  /// Makes an invocation with the same arguments, target, selector and result.
  ///
  /// The copy owns what it holds, whether this one does or not: objects are retained once more, C
  /// strings copied. What a pointer points at stays where it is.
  public func copy() -> Invocation {
    let copy = duplicate(includingTarget: true)
    // This invocation may be lent; what it has borrowed ends with the loan.
    copy.keepArguments()
    if copy.record.hasResult { copy.record.keepResult() }
    return copy
  }

  /// A copy that owns what this one owns, and has borrowed the rest.
  func duplicate(includingTarget: Bool) -> Invocation {
    let copy = Invocation(plan)
    // SAFETY: both frames have the size that the one plan says.
    unsafe copy.record.copyFrame(from: record.frame)
    copy.record.retainsArguments = record.retainsArguments
    copy.record.retainsTarget = record.retainsTarget
    if !includingTarget, plan.isMethod { copy.record.slot(0).word = 0 }
    for index in 0..<plan.argumentCount where record.owns(index) { copy.record.retain(index) }
    copy.record.hasResult = record.hasResult
    if record.hasResult, record.resultOwnership != .none { copy.record.keepResult() }
    return copy
  }

  /// Makes the borrowed arguments the invocation's own, once. For a lent copy that its borrower may
  /// keep.
  package func keepArguments() { record.keepArguments() }
}
