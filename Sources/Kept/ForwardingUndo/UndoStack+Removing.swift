// SPDX-License-Identifier: Apache-2.0
import Forwarding

extension UndoStack {
  /// Removes all undos and redos. Open groups stay open but become empty.
  ///
  /// The targets do not change, so ``isModified`` does not change either.
  public func removeAll() {
    let old = (done, undone, open, closing, waiting, records.lastTarget, performance?.kept)
    // A half-performed undo or an open group leaves a state that no checkpoint has.
    let isBetween =
      performance != nil || open.contains { !$0.steps.isEmpty }
      || waiting.contains { !$0.isDiscardable }
    baseState = isBetween ? newState() : currentState
    (done, undone) = (EntryList(), EntryList())
    for index in open.indices { open[index].steps = [] }
    for index in closing.indices { closing[index] = [] }
    waiting = []
    records.lastTarget = nil
    coalescing = nil
    performance?.removeAll()
    update()
    // Releasing the steps can run a `deinit` that uses the stack.
    withExtendedLifetime(old) {}
    notify(.didRemove)
  }

  /// Removes all steps for one object, at any depth.
  ///
  /// An object may call this in its `deinit`, even during an undo.
  ///
  /// - Returns: false if there was nothing to remove.
  /// - Complexity: O(*n*) in the number of steps.
  @discardableResult
  public func removeAll(for target: AnyObject) -> Bool {
    let object = ObjectIdentifier(target)
    let old = (done, undone, open, closing, waiting, records.lastTarget, performance?.kept)
    var removed = false
    for index in open.indices { removed = open[index].steps.remove(object) || removed }
    for index in closing.indices { removed = closing[index].remove(object) || removed }
    waiting = waiting.compactMap { $0.without(object, &removed) }
    removed = performance?.remove(object) == true || removed
    removed = removeDone(object, alsoBefore: removed) || removed
    removed = removeUndone(object) || removed
    if records.lastTarget?.identity == object { records.lastTarget = nil }
    if removed {
      coalescing = nil
      performance?.isLost = true
    }
    update()
    withExtendedLifetime(old) {}
    if removed { notify(.didRemove) }
    return removed
  }

  /// Removes an object's steps from the undos. An undo then leads to a state that never existed,
  /// because the object's changes stay; such states get new numbers. If a whole entry is removed,
  /// the entry below it leads to the state of the removed one.
  private func removeDone(_ object: ObjectIdentifier, alsoBefore: Bool) -> Bool {
    var isShifted = alsoBefore
    var removed = false
    var carried: Int?
    var left: [Entry] = []
    for var entry in done.all.reversed() {
      if !entry.isDiscardable {
        entry.state = carried ?? (isShifted ? newState() : entry.state)
        carried = nil
      }
      var changed = false
      let step = entry.step.without(object, &changed)
      removed = removed || changed
      if changed, !entry.isDiscardable { isShifted = true }
      guard let step else {
        if !entry.isDiscardable { carried = entry.state }
        continue
      }
      left.append(entry.with(step))
    }
    if isShifted { baseState = carried ?? newState() }
    if isShifted || removed { done = EntryList(left.reversed()) }
    return removed
  }

  private func removeUndone(_ object: ObjectIdentifier) -> Bool {
    var removed = false
    var left: [Entry] = []
    for var entry in undone.all.reversed() {
      var changed = false
      let step = entry.step.without(object, &changed)
      removed = removed || changed
      guard let step else { continue }
      if removed { entry.state = newState() }
      left.append(entry.with(step))
    }
    if removed { undone = EntryList(left.reversed()) }
    return removed
  }
}

extension UndoOperation {
  /// All steps that it holds, for a release at a later point.
  var kept: [Any] {
    [(entry, remaining, stages, deferred, outer)] + (parent?.kept ?? [])
  }

  /// Removes all steps. Groups that wait for it stay but become empty.
  func removeAll() {
    (entry, remaining, stages, deferred) = (nil, [], [], [])
    for index in outer.indices { outer[index].steps = [] }
    isLost = true
    parent?.removeAll()
  }

  /// Removes the steps for one object. Returns false if there were none.
  func remove(_ object: ObjectIdentifier) -> Bool {
    var removed = remaining.remove(object)
    entry = entry?.without(object, &removed)
    deferred = deferred.compactMap { $0.without(object, &removed) }
    for index in stages.indices {
      stages[index].entry = stages[index].entry?.without(object, &removed)
      removed = stages[index].recorded?.steps.remove(object) == true || removed
    }
    for index in outer.indices { removed = outer[index].steps.remove(object) || removed }
    removed = parent?.remove(object) == true || removed
    if removed { parent?.isLost = true }
    return removed
  }
}

extension [Step] {
  /// Removes the steps for one object. Returns false if there were none.
  fileprivate mutating func remove(_ object: ObjectIdentifier) -> Bool {
    var changed = false
    let left = compactMap { $0.without(object, &changed) }
    if changed { self = left }
    return changed
  }
}

extension Entry {
  /// Returns the entry without the steps for one object; nil if nothing is left.
  fileprivate func without(_ object: ObjectIdentifier, _ changed: inout Bool) -> Entry? {
    step.without(object, &changed).map { with($0) }
  }

  func with(_ step: Step) -> Entry {
    Entry(step: step, state: state, name: name, extras: extras)
  }
}
