// SPDX-License-Identifier: Apache-2.0
/// An undo or a redo in progress.
///
/// All of its steps run inside of one call of ``UndoStack/undo()`` or ``UndoStack/redo()``, and the
/// stack is not `Sendable`. So what is recorded meanwhile is recorded by its steps.
final class RunningUndo {
  let direction: History.Direction
  /// The entry being performed. It returns to its stack if the undo fails. Nil if it was removed
  /// meanwhile.
  private(set) var entry: Entry?
  /// The steps that are still to be performed, the next one last.
  var remaining: [Step]
  /// How often recording was disabled when it began.
  let disabledBefore: Int
  /// Whether a step was skipped because its target has died.
  var hasSkipped = false
  /// The number of steps recorded so far.
  var recorded = 0
  /// Whether a step reached its target and recorded nothing, so that it cannot be reversed.
  var isOneWay = false
  /// Whether steps were removed meanwhile, so that it leads to a state that never existed.
  private(set) var isLost = false

  init(_ direction: History.Direction, _ entry: Entry, disabledBefore: Int) {
    self.direction = direction
    self.entry = entry
    self.disabledBefore = disabledBefore
    remaining = [entry.step]
  }

  /// Removes and returns the next step that is not a group; groups are expanded.
  func next() -> Step? {
    while let step = remaining.popLast() {
      guard case .group(let group) = step else { return step }
      remaining += group.steps
    }
    return nil
  }

  // MARK: Removing

  /// All steps that it holds. Whoever removes some retains these until the change is over.
  var kept: Any { (entry, remaining) }

  /// Removes all steps.
  func removeAll() {
    (entry, remaining) = (nil, [])
    isLost = true
  }

  /// Removes the steps for one object. Returns false if there were none.
  func remove(_ object: ObjectIdentifier) -> Bool {
    var removed = remaining.remove(object)
    entry = entry?.without(object, &removed)
    isLost = isLost || removed
    return removed
  }
}
