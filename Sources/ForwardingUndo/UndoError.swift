public import Forwarding

/// Why an undo stack refuses something, or what failed while it undid.
///
/// ```swift
/// let undo = UndoStack()
/// try undo.beginGroup()
/// try undo.undo()      // throws: a group is open, 1 deep; end it first
/// try undo.endGroup()
/// try undo.endGroup()  // throws: no group is open
/// ```
///
/// After each of them the stack is as it was, but for a group whose body threw and that could not be taken back: that is
/// an undo then.
@nonexhaustive
public enum UndoError: Error, Sendable {
  /// The stack is undoing or redoing, or is about to, and this must wait for the end.
  case busy
  /// A group is open: it must be ended before the stack can undo, redo or be marked.
  case groupIsOpen(depth: Int)
  /// So many groups are open inside of each other that no more can be begun.
  case tooDeep(limit: Int)
  /// No group is open that was begun by hand.
  case noGroupIsOpen
  /// The open group does not end with a nested group.
  case noNestedGroup
  /// Recording was enabled more often than it was disabled.
  case notDisabled
  /// A step threw. The steps before it were taken back, and `rollback` has what was thrown by that. Or the body of a
  /// group threw, and why the group could not be undone is the `rollback`.
  case failed(UndoStep, any Error, rollback: [any Error])
  /// A message has a result, and the closure that records it wants one. There is none before the undo: record the
  /// message by its name, or ignore the result with `try?`.
  case wantsResult(Selector)
  /// A face was used after the closure that it was made for had returned, or on another thread.
  case notRecording(Selector?)
  /// No undo or redo leads to a checkpoint: it is of another stack, or of steps or objects that are gone.
  case unreachable
  /// The caller is on no actor, so there are no turns that end.
  case notOnActor
}

extension UndoError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .busy: "the stack is undoing or redoing; this must wait for the end"
    case .groupIsOpen(let depth): "a group is open, \(depth) deep; end it first"
    case .tooDeep(let limit): "\(limit) groups are open inside of each other; that is the limit"
    case .noGroupIsOpen: "no group is open"
    case .noNestedGroup: "the open group does not end with a nested group"
    case .notDisabled: "recording is not disabled"
    case .failed(let step, let error, let rollback):
      "'\(step)' threw, and the steps before it were taken back: \(error)"
        + (rollback.isEmpty ? "" : "; this threw: \(rollback)")
    case .wantsResult(let selector):
      "'\(selector)' has a result, and a recorded message has none; record it by its name, or "
        + "ignore the result with 'try?'"
    case .notRecording(let selector):
      "\(selector.map { "'\($0)'" } ?? "a message") came to a face that no longer records"
    case .unreachable: "no undo or redo leads to the checkpoint"
    case .notOnActor: "the caller is on no actor, so there are no turns that end"
    }
  }
}
