// SPDX-License-Identifier: Apache-2.0
import Forwarding
public import Invocations

/// An error of an undo stack: a refused operation, or an undo that failed.
///
/// ```swift
/// let undo = UndoStack()
/// try undo.beginGroup()
/// try undo.undo()      // throws: a group is open, 1 deep: call 'endGroup' first
/// try undo.endGroup()
/// try undo.endGroup()  // throws: no group is open: call 'beginGroup' before 'endGroup'
/// ```
///
/// After each of these errors the stack is as it was before the call.
@nonexhaustive
public enum UndoError: Error, Sendable {
  /// The stack is undoing or redoing, or about to. Retry after the end.
  case busy
  /// A group is open. End it before an undo, a redo or a mark.
  case groupIsOpen(depth: Int)
  /// The limit of nested groups is reached.
  case tooDeep(limit: Int)
  /// No group is open that was begun by ``UndoStack/beginGroup(_:)``.
  case noGroupIsOpen
  /// `enableRecording()` was called more often than `disableRecording()`.
  case notDisabled
  /// A step, which the text describes, threw. The steps before it were taken back; `rollback` holds
  /// the errors thrown by that.
  case failed(String, any Error, rollback: [any Error])
  /// The closure of a record uses the result of a message. There is no result before the undo.
  /// Record the message by its name, or ignore the result with `try?`.
  case wantsResult(Selector)
  /// A proxy was used on another thread, or after the closure that it was made for had returned.
  case notRecording(Selector?)
}

extension UndoError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .busy: "the stack is undoing or redoing: try again when that has ended"
    case .groupIsOpen(let depth): "a group is open, \(depth) deep: call 'endGroup' first"
    case .tooDeep(let limit): "\(limit) groups are open inside of each other: end one first"
    case .noGroupIsOpen: "no group is open: call 'beginGroup' before 'endGroup'"
    case .notDisabled: "recording is not disabled: call 'disableRecording' first"
    case .failed(let step, let error, let rollback):
      "'\(step)' threw, and the steps before it were taken back: \(error)"
        + (rollback.isEmpty ? "" : "; taking them back threw: \(rollback)")
    case .wantsResult(let selector):
      "'\(selector)' has no result while it is recorded: use 'try?', or record it by its selector"
    case .notRecording(let selector):
      "\(selector.map { "'\($0)'" } ?? "a message") came to a proxy that no longer records: "
        + "use the proxy inside of its closure, on the same thread"
    }
  }
}
