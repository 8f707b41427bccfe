// SPDX-License-Identifier: Apache-2.0
import Forwarding
public import Invocations

extension UndoStack {
  /// A problem that no caller learns of through a result or an error.
  public enum Diagnostic: Sendable, CustomStringConvertible {
    /// The target of a step has died, and the step was left out. The text describes the step.
    case targetGone(String)
    /// A message could not be recorded, and its requirement cannot throw.
    case notRecorded(Selector?, any Error)
    /// An undo or a redo recorded nothing, so it cannot be reversed.
    case noWayBack(String)
    /// A group was left open. It was closed.
    case groupLeftOpen(String?)

    public var description: String {
      switch self {
      case .targetGone(let step): "'\(step)' was skipped, because its target was released"
      case .notRecorded(let selector, let error):
        "\(selector.map { "'\($0)'" } ?? "a message") was not recorded: \(error)"
      case .noWayBack(let step): "'\(step)' recorded nothing, so it cannot be reversed"
      case .groupLeftOpen(let name):
        "\(name.map { "the group '\($0)'" } ?? "a group") was left open, so it was closed"
      }
    }
  }
}
