// SPDX-License-Identifier: Apache-2.0
import Invocations

// Going to a checkpoint: any number of undos or redos, completely or not at all.

extension UndoStack {
  /// Undoes or redoes until the targets are in the state of the checkpoint.
  ///
  /// Observers are notified of one undo or redo. If a step throws on the way, the steps before it
  /// are taken back, and the stack is as it was. If an object with changes on the way has died, the
  /// targets cannot reach that state: nothing is undone, and the stack is as it was.
  ///
  /// - Throws: ``UndoError/unreachable`` if no undo or redo leads there, ``UndoError/busy`` during
  ///   another undo or redo, ``UndoError/groupIsOpen(depth:)`` while a group is open,
  ///   ``UndoError/failed(_:_:rollback:)`` if a step throws.
  public func go(to checkpoint: UndoCheckpoint) throws(UndoError) {
    guard let performance = try beginGoing(to: checkpoint, false) else { return }
    try run(performance)
  }

  /// Takes the first entry on the way from its stack; nil if the targets are already there.
  func beginGoing(
    to checkpoint: UndoCheckpoint, _ isAwaited: Bool
  ) throws(UndoError) -> UndoOperation? {
    try checkReady()
    guard checkpoint.stack == identity else { throw .unreachable }
    if isAt(checkpoint) { return nil }
    let state = checkpoint.state
    guard var direction = history.direction(to: state) else { throw .unreachable }
    if !observers.isEmpty {
      announce(direction == .undo ? .willUndo : .willRedo)
      try checkReady()
      guard let now = history.direction(to: state) else { throw .unreachable }
      direction = now
    }
    guard let entry = history.take(direction) else { return nil }
    let performance = begin(direction, entry, isAwaited)
    performance.place = state
    return performance
  }

  /// Whether a `go(to:)` can no longer reach its state.
  func isAstray(_ performance: UndoOperation) -> Bool {
    guard performance.place != nil else { return false }
    if performance.isLost || performance.stage(nil).leftOut { return true }
    return history.isEmpty(performance.direction) && !hasArrived(performance)
  }

  private func hasArrived(_ performance: UndoOperation) -> Bool {
    guard let place = performance.place else { return true }
    if performance.direction == .undo { return history.current == place }
    return performance.entry?.leads(to: place) ?? true
  }

  /// Continues with the next entry. Returns false if the state is reached or no entry is left.
  func goOn(_ performance: UndoOperation) -> Bool {
    if hasArrived(performance) { return false }
    guard let entry = history.take(performance.direction) else { return false }
    performance.goOn(with: entry, after: performance.stage(open.first))
    openPerforming(entry)
    return true
  }
}
