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
    guard var direction = direction(to: state) else { throw .unreachable }
    if !observers.isEmpty {
      announce(direction == .undo ? .willUndo : .willRedo)
      try checkReady()
      guard let now = self.direction(to: state) else { throw .unreachable }
      direction = now
    }
    guard let entry = direction == .undo ? records.popLast() : undone.popLast() else { return nil }
    let performance = begin(direction, entry, isAwaited)
    performance.place = state
    return performance
  }

  /// The direction that leads to a state; nil if none does, or only through objects that have died.
  private func direction(to state: Int) -> UndoOperation.Direction? {
    let (undos, redos) = (done.all, undone.all)
    if let index = undos.lastIndex(where: { $0.leads(to: state) }) {
      return undos[(index + 1)...].contains { $0.isBroken } ? nil : .undo
    }
    if state == baseState { return undos.contains { $0.isBroken } ? nil : .undo }
    guard let index = redos.lastIndex(where: { $0.leads(to: state) }) else { return nil }
    return redos[index...].contains { $0.isBroken } ? nil : .redo
  }

  /// Whether a `go(to:)` can no longer reach its state.
  func isAstray(_ performance: UndoOperation) -> Bool {
    guard performance.place != nil else { return false }
    if performance.isLost || performance.stage(nil).leftOut { return true }
    let isEmpty = performance.direction == .undo ? done.isEmpty : undone.isEmpty
    return isEmpty && !hasArrived(performance)
  }

  private func hasArrived(_ performance: UndoOperation) -> Bool {
    guard let place = performance.place else { return true }
    if performance.direction == .undo { return currentState == place }
    return performance.entry?.leads(to: place) ?? true
  }

  /// Continues with the next entry. Returns false if the state is reached or no entry is left.
  func goOn(_ performance: UndoOperation) -> Bool {
    if hasArrived(performance) { return false }
    guard let entry = performance.direction == .undo ? records.popLast() : undone.popLast()
    else { return false }
    performance.goOn(with: entry, after: performance.stage(open.first))
    openPerforming(entry)
    return true
  }
}

extension Entry {
  /// Whether the targets are in this state after the entry.
  fileprivate func leads(to state: Int) -> Bool { self.state == state && !isDiscardable }

  /// Whether performing it would skip a step although it is not discardable.
  fileprivate var isBroken: Bool { !isDiscardable && step.hasLost }
}

extension Step {
  /// Whether the target of any part has died.
  fileprivate var hasLost: Bool {
    guard case .group(let group) = self else { return target?.object == nil }
    return group.steps.contains { $0.hasLost }
  }
}
