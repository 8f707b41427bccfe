// SPDX-License-Identifier: Apache-2.0
// How an undo or a redo ends, awaited or not.

extension UndoStack {
  /// Restores the stack after a failed undo or redo.
  func putBack(_ performance: UndoOperation, _ failure: UndoError) {
    let groups = open
    open = performance.outer
    over(performance)
    // Appended in reverse: the entry performed first was the newest.
    for entry in [performance.entry] + performance.stages.reversed().map(\.entry) {
      guard let entry else { continue }
      if let last = open.indices.last {
        open[last].steps.append(entry.step)
      } else {
        history.append(entry, performance.direction)
      }
    }
    // An entry that cannot be reversed leaves the targets in a state that never existed.
    var isUnknown = performance.isLost || performance.stages.contains { $0.isOneWay }
    if case .failed(_, _, let rollback) = failure, !rollback.isEmpty { isUnknown = true }
    if isUnknown { history.renumberAll() }
    end(performance, .failed)
    withExtendedLifetime(groups) {}
  }

  /// Turns the recorded steps into the redo of an undo, or the undo of a redo.
  func finish(_ performance: UndoOperation) {
    // The group leaves the array first, so that it has one owner and is not copied.
    let last = performance.stage(open.popLast())
    open = performance.outer
    over(performance)
    for stage in performance.stages { keep(stage, performance) }
    keep(last, performance)
    for stage in performance.stages { tellOneWay(stage, performance) }
    tellOneWay(last, performance)
    let old = trim()
    end(performance, performance.direction == .undo ? .didUndo : .didRedo)
    withExtendedLifetime(old) {}
  }

  private func tellOneWay(_ stage: UndoOperation.Stage, _ performance: UndoOperation) {
    guard stage.isOneWay, performance.disabledCount == 0, let entry = stage.entry else { return }
    diagnose(.noWayBack(UndoStep(entry.step, name: entry.name)))
  }

  /// Closes groups that steps have left open.
  func closeLeftOpen() {
    if open.count > 1 { diagnose(.groupLeftOpen(open[open.count - 1].name)) }
    while open.count > 1 {
      let group = open.removeLast()
      open[open.count - 1].steps += group.steps
    }
  }

  /// Adds the reverse of one performed entry.
  private func keep(_ stage: UndoOperation.Stage, _ performance: UndoOperation) {
    let isUndo = performance.direction == .undo
    let entry = stage.entry
    // A skipped step was not undone, so this state is a new one.
    if stage.leftOut {
      if isUndo {
        history.renumberUndos(below: history.newState())
      } else {
        history.renumberRedos()
      }
    }
    if performance.disabledCount == 0, let recorded = stage.recorded,
      let step = recorded.steps.asOne(name: recorded.name)
    {
      let isKnown = isUndo || !stage.leftOut
      let back = Entry(
        step: step, state: (isKnown ? entry?.state : nil) ?? history.newState(),
        name: recorded.name, extras: recorded.extras)
      history.append(back, isUndo ? .redo : .undo)
    } else if stage.hasPerformed, let entry {
      if isUndo {
        history.renumberRedos()
      } else {
        history.renumberUndos(below: stage.leftOut ? history.newState() : entry.state)
      }
    }
  }

  /// Moves the entries of other tasks to `waiting`: there they count as modifications and can be
  /// removed until they are added.
  private func over(_ performance: UndoOperation) {
    waiting += performance.deferred
    performance.deferred = []
    phase = .idle
  }

  private func end(_ performance: UndoOperation, _ event: Event) {
    changeDisabled(by: performance.disabledInside)
    while !waiting.isEmpty { add(deferred: waiting.removeFirst()) }
    notify(event)
  }
}
