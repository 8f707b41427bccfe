// SPDX-License-Identifier: Apache-2.0
public import Forwarding

extension UndoStack {
  /// A problem that no caller learns of through a result or an error.
  public enum Diagnostic: Sendable, CustomStringConvertible {
    /// The target of a step has died, and the step was left out.
    case targetGone(UndoStep)
    /// A message could not be recorded, and its requirement cannot throw.
    case notRecorded(Selector?, any Error)
    /// The closure of a record sent no message.
    case nothingRecorded(type: String)
    /// An undo or a redo recorded nothing, so it cannot be reversed.
    case noWayBack(UndoStep)
    /// A group was left open. It was closed.
    case groupLeftOpen(String?)

    public var description: String {
      switch self {
      case .targetGone(let step): "'\(step)' is left out: its target is gone"
      case .notRecorded(let selector, let error):
        "\(selector.map { "'\($0)'" } ?? "a message") was not recorded: \(error)"
      case .nothingRecorded(let type): "a record for an object of class \(type) sent no message"
      case .noWayBack(let step): "'\(step)' recorded nothing, so there is no way back"
      case .groupLeftOpen(let name):
        "\(name.map { "the group '\($0)'" } ?? "a group") was left open"
      }
    }
  }
}
