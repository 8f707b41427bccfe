import Forwarding

extension UndoStack {
  /// Forgets everything that could be undone or redone. Groups that are open stay open, and empty.
  ///
  /// The targets are as they were, so whether they are modified does not change.
  public func removeAll() {
    let old = (done, undone, open, closing, waiting, records.lastTarget, performance?.kept)
    // What is half done is a state that nobody comes back to.
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
    // Objects die here, and may use the stack.
    withExtendedLifetime(old) {}
    notify(.didRemove)
  }

  /// Forgets what is for one object, at any depth. False if there was nothing.
  ///
  /// An object may do that in its `deinit`, even in the middle of an undo.
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

  /// What an undo then leads to has not been before: the object's changes stay. So those states get new numbers. Where
  /// an entry goes as a whole, what is below it leads to the state above it.
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

extension Performance {
  /// All that it holds, to be let go later.
  var kept: [Any] {
    [(entry, remaining, stages, deferred, outer)] + (parent?.kept ?? [])
  }

  /// Forgets all; groups that wait for it stay, and are empty.
  func removeAll() {
    (entry, remaining, stages, deferred) = (nil, [], [], [])
    for index in outer.indices { outer[index].steps = [] }
    isLost = true
    parent?.removeAll()
  }

  /// Forgets what is for one object; false if there was nothing.
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
  /// Takes out what is for one object; false if there was nothing.
  fileprivate mutating func remove(_ object: ObjectIdentifier) -> Bool {
    var changed = false
    let left = compactMap { $0.without(object, &changed) }
    if changed { self = left }
    return changed
  }
}

extension Entry {
  /// Without what is for one object; nil if nothing is left.
  fileprivate func without(_ object: ObjectIdentifier, _ changed: inout Bool) -> Entry? {
    step.without(object, &changed).map { with($0) }
  }

  func with(_ step: Step) -> Entry {
    Entry(step: step, state: state, name: name, extras: extras)
  }
}
