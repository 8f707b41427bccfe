// SPDX-License-Identifier: Apache-2.0
import Forwarding

// How a step is added to the stack. Code of users runs only at the end of each part, as it may call
// the stack again.
extension UndoStack {
  /// Adds a step to the open group, or as an entry.
  @inline(__always)
  func add(_ step: consuming Step, _ coalescing: UndoCoalescing?) {
    guard records.isPlain, coalescing == nil else { return addWithCare(step, coalescing) }
    history.add(step)
    if records.hasMore { tidy() }
  }

  /// Ends coalescing, and drops redos and entries beyond `levels`.
  @inline(never)
  private func tidy() {
    coalescing = nil
    let old = (history.removeRedos(), trim())
    records.hasMore = levels != nil
    withExtendedLifetime(old) {}
  }

  @inline(never)
  private func addWithCare(_ step: Step, _ coalescing: UndoCoalescing?) {
    if let performance {
      if performance.isElsewhere {
        return performance.deferred.append(Entry(step: step, state: history.newState()))
      }
      if !performance.isRollingBack { open[open.count - 1].steps.append(step) }
      return
    }
    clearRedo()
    guard open.isEmpty else { return join(step, coalescing) }
    let kind: OpenGroup.Kind = groupsByEvent ? .byEvent : .byCall
    let id = begin(kind, name: nil, steps: [step], coalescing)
    if kind == .byCall { close(id) }
  }

  /// Adds an entry that another task recorded while a step was awaited.
  func add(deferred entry: Entry) {
    guard let performance else {
      clearRedo()
      if open.isEmpty, !groupsByEvent {
        return close(begin(.byCall, name: entry.name, steps: [entry.step], extras: entry.extras))
      }
      if open.isEmpty {
        begin(.byEvent, name: entry.name, steps: [entry.step], extras: entry.extras)
        return
      }
      open[0].name = entry.name ?? open[0].name
      let extras = open[0].extras
      open[0].extras = entry.extras ?? extras
      withExtendedLifetime(extras) {}
      return join(entry.step, nil)
    }
    // An observer, notified of the entry before this one, has begun another undo.
    performance.deferred.append(entry)
  }

  /// Opens a group.
  ///
  /// - Returns: the group's id.
  @discardableResult
  func begin(
    _ kind: OpenGroup.Kind, name: String?, steps: [Step] = [], extras: UndoMetadata? = nil,
    _ coalescing: UndoCoalescing? = nil
  ) -> Int {
    lastGroup += 1
    let id = lastGroup
    open.append(
      OpenGroup(
        kind: kind, id: id, name: name, steps: steps, extras: extras, coalescing: coalescing,
        isMixed: !steps.isEmpty && coalescing == nil))
    update()
    notify(.didOpenGroup(depth: open.count))
    if kind == .byEvent { onEvent?() }
    return id
  }

  /// Adds a step to the innermost group.
  private func join(_ step: Step, _ coalescing: UndoCoalescing?) {
    let last = open.count - 1
    let isFirst = open[last].steps.isEmpty
    let isSame = coalescing != nil && open[last].coalescing?.key == coalescing?.key
    if let coalescing, isSame {
      let (group, previous) = (open[last].id, open[last].steps.last)
      // A replaced call is released after the change, as the `deinit` of an argument may use the
      // stack.
      defer { withExtendedLifetime(previous) {} }
      let outcome = merging(open[last].steps, step, coalescing)
      // The user's merge closure may have changed the whole stack.
      guard let last = open.indices.last, open[last].id == group,
        Step.areOne(open[last].steps.last, previous)
      else { return add(step, nil) }
      if outcome.apply(to: &open[last].steps) { return }
    }
    open[last].steps.append(step)
    // A group whose steps were removed still has a rule.
    let rule = open[last].coalescing
    defer { withExtendedLifetime(rule) {} }
    if isFirst {
      open[last].coalescing = coalescing
      open[last].isMixed = coalescing == nil
    } else if !isSame {
      open[last].isMixed = true
    }
  }

  /// Closes a group and all open groups inside it.
  func close(_ id: Int) {
    notify(.willCloseGroup(depth: open.count))
    // An observer may have closed it.
    guard let index = open.lastIndex(where: { $0.id == id }) else { return }
    // The rules of the closed groups are released last: their `deinit`s may end groups, too.
    let groups = open
    defer { withExtendedLifetime(groups) {} }
    while open.count > index + 1 { closeInnermost() }
    closeInnermost()
    update()
    notify(.didCloseGroup(depth: open.count + 1))
  }

  private func closeInnermost() {
    guard let group = open.popLast() else { return }
    if let outer = open.indices.last {
      guard !group.steps.isEmpty else { return }
      open[outer].steps.append(.group(StepGroup(name: group.name, steps: group.steps)))
      open[outer].isMixed = true
    } else {
      keep(group)
    }
  }

  /// Adds a closed group as a new entry, or coalesces it with the newest one.
  private func keep(_ group: OpenGroup) {
    let coalescing = group.isMixed ? nil : group.coalescing
    if group.steps.isEmpty { return }
    var rest = group
    if let coalescing, isGoingOn(coalescing) {
      rest.steps = coalesce(group, coalescing)
      // A merge may have undone something.
      clearRedo()
    }
    if let step = rest.steps.asOne(name: group.name) {
      let state = history.newState()
      history.append(Entry(step: step, state: state, name: group.name, extras: group.extras), .undo)
    }
    self.coalescing = coalescing.map { rule in
      (rule.key, rule.pause.map { now() + $0 })
    }
    let old = trim()
    update()
    withExtendedLifetime(old) {}
  }

  private func isGoingOn(_ coalescing: UndoCoalescing) -> Bool {
    guard let going = self.coalescing, going.key == coalescing.key, !history.isEmpty(.undo) else {
      return false
    }
    return going.deadline.map { now() <= $0 } ?? true
  }

  /// Drops all redos.
  func clearRedo() { if !history.isEmpty(.redo) { history.removeRedos() } }

  /// Removes the entries beyond `levels`.
  ///
  /// - Returns: the removed entries, for the caller to release.
  func trim() -> [Entry] {
    guard let levels = levels.map({ max(0, $0) }) else { return [] }
    let old = history.trim(to: levels)
    if history.isEmpty(.undo) { coalescing = nil }
    return old
  }
}
