import Forwarding

// How a step comes into the stack. Code of users runs at the end of each part alone: it may come back here.
extension UndoStack {
  /// Keeps a step, where it belongs now.
  @inline(__always)
  func add(_ step: consuming Step, _ coalescing: UndoCoalescing?) {
    guard records.isPlain, coalescing == nil else { return addWithCare(step, coalescing) }
    records.append(Entry(step: step, state: records.newState()))
    if records.hasMore { tidy() }
  }

  /// Lets go of what a record ends.
  @inline(never)
  private func tidy() {
    coalescing = nil
    let old = (undone, trim())
    undone = EntryList()
    records.hasMore = levels != nil
    withExtendedLifetime(old) {}
  }

  @inline(never)
  private func addWithCare(_ step: Step, _ coalescing: UndoCoalescing?) {
    if let performance {
      if performance.isElsewhere { return performance.deferred.append(step) }
      if !performance.isRollingBack { open[open.count - 1].steps.append(step) }
      return
    }
    clearRedo()
    guard open.isEmpty else { return join(step, coalescing) }
    let kind: OpenGroup.Kind = groupsByEvent ? .byEvent : .byCall
    let id = begin(kind, name: nil, steps: [step], coalescing)
    if kind == .byCall { close(id) }
  }

  /// Opens a group.
  @discardableResult
  func begin(
    _ kind: OpenGroup.Kind, name: String?, steps: [Step] = [], _ coalescing: UndoCoalescing? = nil
  ) -> Int {
    lastGroup += 1
    let id = lastGroup
    open.append(
      OpenGroup(
        kind: kind, id: id, name: name, steps: steps, coalescing: coalescing,
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
    if let coalescing, isSame, absorbs(open[last].steps, step, coalescing) { return }
    // What merges may have changed everything.
    guard let last = open.indices.last else { return add(step, nil) }
    open[last].steps.append(step)
    if isFirst {
      open[last].coalescing = coalescing
      open[last].isMixed = coalescing == nil
    } else if !isSame {
      open[last].isMixed = true
    }
  }

  /// Whether steps stand for another one, too.
  private func absorbs(_ steps: [Step], _ step: Step, _ coalescing: UndoCoalescing) -> Bool {
    switch coalescing.rule {
    case .join: return false
    case .keepFirst: return steps.contains { $0.isLike(step) }
    case .merge(let merge):
      guard case .call(.whole(let older), _)? = steps.last,
        case .call(.whole(let newer), _) = step, steps.last?.isLike(step) == true
      else { return false }
      do { return try merge(older, newer) } catch {
        diagnose(.notCoalesced(UndoStep(step), error))
        return false
      }
    }
  }

  /// Closes a group, with those that are open inside of it.
  func close(_ id: Int) {
    notify(.willCloseGroup(depth: open.count))
    // Who is told may have closed it.
    guard let index = open.lastIndex(where: { $0.id == id }) else { return }
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

  /// Makes an entry of a group, or a part of the newest one.
  private func keep(_ group: OpenGroup) {
    let coalescing = group.isMixed ? nil : group.coalescing
    if group.steps.isEmpty { return }
    if let coalescing, isGoingOn(coalescing) {
      coalesce(group, coalescing)
    } else if let step = group.steps.asOne(name: group.name) {
      records.append(
        Entry(step: step, state: newState(), name: group.name, extras: group.extras))
    }
    self.coalescing = coalescing.map { rule in
      (rule.key, rule.pause.map { now() + $0 })
    }
    let old = trim()
    update()
    withExtendedLifetime(old) {}
  }

  private func isGoingOn(_ coalescing: UndoCoalescing) -> Bool {
    guard let going = self.coalescing, going.key == coalescing.key, !done.isEmpty else {
      return false
    }
    return going.deadline.map { now() <= $0 } ?? true
  }

  private func coalesce(_ group: OpenGroup, _ coalescing: UndoCoalescing) {
    for step in group.steps {
      guard let newest = done.last else { return add(step, nil) }
      let whole = newest.step.asGroup
      if absorbs(whole.steps, step, coalescing) { continue }
      whole.steps.append(step)
      guard case .group = newest.step else {
        records.replaceLast { $0.step = .group(whole) }
        continue
      }
    }
    let state = newState()
    records.replaceLast { entry in
      entry.state = state
      entry.name = entry.name ?? group.name
      if group.extras?.isDiscardable != true, entry.isDiscardable {
        entry.extras = .with(entry.extras, isDiscardable: false)
      }
    }
  }

  /// Lets go of what could be redone.
  func clearRedo() {
    guard !undone.isEmpty else { return }
    let old = undone
    undone = EntryList()
    // Objects die here, and may use the stack.
    withExtendedLifetime(old) {}
  }

  /// Takes out what is too old, which the caller lets go.
  func trim() -> [Entry] {
    guard let levels = levels.map({ max(0, $0) }) else { return [] }
    var old: [Entry] = []
    while records.done.count > levels, let entry = records.popFirst() {
      if !entry.isDiscardable { baseState = entry.state }
      old.append(entry)
    }
    while undone.count > levels, let entry = undone.popFirst() { old.append(entry) }
    if done.isEmpty { coalescing = nil }
    return old
  }
}

extension Step {
  /// A group of this alone, or the group that it is.
  fileprivate var asGroup: StepGroup {
    if case .group(let group) = self { group } else { StepGroup(name: nil, steps: [self]) }
  }
}
