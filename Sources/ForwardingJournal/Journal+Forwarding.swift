public import ForwardingWire
import Invocations

// What the journal does as an object that forwards.
extension Journal {
  /// Opens a journal, or begins one, for an object of a face's protocol.
  public convenience init<Face: ForwardingFace>(
    at path: String, interface: Interface, to target: Face.__Target, as face: Face.Type,
    strongly: Bool = true, _ options: JournalOptions = JournalOptions()
  ) throws(JournalError) {
    let object = Face.__prepare(target)
    try self.init(
      at: path, interface: interface, to: object, strongly: strongly || Face.__isBox(object),
      options)
  }

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
}
