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
    call.retainsArguments = true
    if includingTarget { call.retainsTarget = true }
    for index in 0..<plan.argumentCount where call.isRetaining(index) && !call.owns(index) {
      call.retain(index)
    }
    call.keepResult()
  }

  /// Makes an invocation with the same arguments, target, selector and result.
  ///
  /// The copy owns what it holds, whether this one does or not: objects are retained once more, C
  /// strings copied. What a pointer points at stays where it is.
  public func copy() -> Invocation {
    let copy = duplicate(includingTarget: true)
    // This invocation may be lent; what it has borrowed ends with the loan.
    copy.keepArguments()
    copy.call.keepResult()
    return copy
  }

  /// A copy that owns what this one owns, and has borrowed the rest.
  func duplicate(includingTarget: Bool) -> Invocation {
    let copy = Invocation(plan)
    // SAFETY: both frames have the size that the one plan says.
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

  /// Makes the borrowed arguments the invocation's own, once. For a lent copy that its borrower may
  /// keep.
  package func keepArguments() { call.keepArguments() }
}
