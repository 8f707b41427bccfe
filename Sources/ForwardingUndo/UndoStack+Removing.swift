// SPDX-License-Identifier: Apache-2.0
import Forwarding

extension UndoStack {
  /// Removes all undos and redos. Open groups stay open but become empty.
  ///
  /// The targets do not change, so ``isModified`` does not change either.
  public func removeAll() {
    let old = (history.lists, open, closing, waiting, records.lastTarget, performance?.kept)
    // A half-performed undo or an open group leaves a state that no checkpoint has.
    let isBetween =
      performance != nil || open.contains { !$0.steps.isEmpty }
      || waiting.contains { !$0.isDiscardable }
    history.removeAll(in: isBetween ? history.newState() : history.current)
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
    let old = (history.lists, open, closing, waiting, records.lastTarget, performance?.kept)
    var removed = false
    for index in open.indices { removed = open[index].steps.remove(object) || removed }
    for index in closing.indices { removed = closing[index].remove(object) || removed }
    waiting = waiting.compactMap { $0.without(object, &removed) }
    removed = performance?.remove(object) == true || removed
    removed = history.remove(object, alsoLater: removed) || removed
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
}
