import Invocations

// The way to a checkpoint: as many undos or redos as it takes, all or none.

extension UndoStack {
  /// Undoes or redoes until the targets are where they were.
  ///
  /// Observers are told of one undo or redo. If a step throws on the way, what was undone or redone before it is taken
  /// back, and the stack is as it was; so it is, and nothing is undone, where an object has died whose changes are on
  /// the way: without it the targets do not come to where they were.
  public func go(to checkpoint: UndoCheckpoint) throws(UndoError) {
    guard let performance = try beginGoing(to: checkpoint, false) else { return }
    try run(performance)
  }

  /// Takes the first entry on the way up; nil if the targets are there.
  func beginGoing(
    to checkpoint: UndoCheckpoint, _ isAwaited: Bool
  ) throws(UndoError) -> Performance? {
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

  /// What leads to a state; nil if nothing does, or not without objects that have died.
  private func direction(to state: Int) -> Performance.Direction? {
    let (undos, redos) = (done.all, undone.all)
    if let index = undos.lastIndex(where: { $0.leads(to: state) }) {
      return undos[(index + 1)...].contains { $0.isBroken } ? nil : .undo
    }
    if state == baseState { return undos.contains { $0.isBroken } ? nil : .undo }
    guard let index = redos.lastIndex(where: { $0.leads(to: state) }) else { return nil }
    return redos[index...].contains { $0.isBroken } ? nil : .redo
  }

  /// Whether an undo or a redo that leads to a place does so no more.
  func isAstray(_ performance: Performance) -> Bool {
    guard performance.place != nil else { return false }
    if performance.isLost || performance.stage(nil).leftOut { return true }
    let isEmpty = performance.direction == .undo ? done.isEmpty : undone.isEmpty
    return isEmpty && !hasArrived(performance)
  }

  private func hasArrived(_ performance: Performance) -> Bool {
    guard let place = performance.place else { return true }
    if performance.direction == .undo { return currentState == place }
    return performance.entry?.leads(to: place) ?? true
  }

  /// Goes on with the next entry; false where the last one was performed.
  func goOn(_ performance: Performance) -> Bool {
    if hasArrived(performance) { return false }
    guard let entry = performance.direction == .undo ? records.popLast() : undone.popLast()
    else { return false }
    performance.goOn(with: entry, after: performance.stage(open.first))
    openPerforming(entry)
    return true
  }
}

extension Entry {
  /// Whether the targets are in this state behind it.
  fileprivate func leads(to state: Int) -> Bool { self.state == state && !isDiscardable }

  /// Whether it would leave out what counts.
  fileprivate var isBroken: Bool { !isDiscardable && step.hasLost }
}

extension Step {
  /// Whether the target of any part has died.
  fileprivate var hasLost: Bool {
    guard case .group(let group) = self else { return target?.object == nil }
    return group.steps.contains { $0.hasLost }
  }
}
