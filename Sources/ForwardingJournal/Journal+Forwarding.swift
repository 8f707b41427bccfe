public import ForwardingWire
import Invocations

// What the journal does as an object that forwards.
extension Journal {
  /// An object of a face's protocol whose calls are written. It keeps the journal.
  public func face<Face: ForwardingFace>(_ type: Face.Type = Face.self) -> Face {
    Face(forwardingTo: self)
  }

  func proceed(_ invocation: Invocation, to target: AnyObject?) throws {
    guard let target else { return invocation.answerWithZero() }
    try invocation.send(to: target)
  }

  nonisolated(nonsending) func proceedAwaiting(
    _ invocation: Invocation, to target: AnyObject?
  ) async throws {
    guard let target else { return invocation.answerWithZero() }
    try await invocation.sendAwaiting(to: target)
  }

  /// The target, if there is one. A call that nobody is there for is not written.
  func liveTarget(_ invocation: Invocation) throws(ForwardingError) -> AnyObject? {
    let target = target
    if target == nil, hadTarget { throw .targetGone(invocation.selector) }
    return target
  }

  /// Refuses a call that could not be written after it was made, as far as that is known before.
  func checkWritable(_ invocation: Invocation) throws(JournalError) {
    try check()
    if state.withLock({ $0.file == nil }) { throw .closed(path: path) }
    do throws(WireError) { _ = try interface.encode(invocation) } catch { throw .refused(error) }
  }
}
