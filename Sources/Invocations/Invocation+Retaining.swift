import CForwardingShims
import TypeEncodings

extension Invocation {
  /// Retains every object, and copies every C string, that is only borrowed so far; arguments
  /// that are set later are kept likewise. Calling it again changes nothing.
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
  /// The frame is copied by its size. What this one owns, the copy owns too: objects are retained
  /// once more, owned C strings copied. What is borrowed stays borrowed.
  public func copy() -> Invocation {
    let copy = Invocation(plan)
    // SAFETY: both frames have the size that the one plan says.
    unsafe copy.record.copyFrame(from: record.frame)
    copy.record.retainsArguments = record.retainsArguments
    copy.record.retainsTarget = record.retainsTarget
    for index in 0..<plan.argumentCount where record.owns(index) { copy.record.retain(index) }
    copy.record.hasResult = record.hasResult
    if record.hasResult, record.resultOwnership != .none { copy.record.keepResult() }
    return copy
  }
}
