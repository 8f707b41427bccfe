// SPDX-License-Identifier: Apache-2.0
// A naive undo stack: lists of values to set, without regard to time and memory.

/// Groups are flat here: that they nest shows in no value, name or count.
struct UndoModel {
  /// A message that sets a cell, or a cell and the next one.
  struct Change {
    var sets: [(cell: Int, value: Int)]

    var cell: Int { sets[0].cell }
    var text: String { "\(sets.count): \(sets[0].value)" }

    func isLike(_ other: Change) -> Bool {
      cell == other.cell && sets.count == other.sets.count
    }
  }

  /// An open group, or an entry of the history.
  struct Group {
    /// In the order of the records.
    var changes: [Change] = []
    var name: String?
    var isEvent = false
    var isOver = false
    /// The key that all its records share; nil if they share none.
    var key: String?

    var text: String { changes.map(\.text).joined(separator: "; ") }
  }

  var values = Array(repeating: 0, count: Action.cells)
  var isHeld = Array(repeating: true, count: Action.cells)
  var isAlive = Array(repeating: true, count: Action.cells)
  var refuses = Array(repeating: false, count: Action.cells)
  var done: [Group] = []
  var undone: [Group] = []
  var open: [Group] = []
  var levels: Int?
  var byEvent = false
  var disabled = 0
  var key: String?

  // MARK: Changes

  // Where the stack throws, the model returns nil or false, because the test runner inspects each
  // error.

  /// Makes a change and returns the one that reverses it; nil if the cell refuses.
  private mutating func make(_ change: Change) -> Change? {
    if refuses[change.cell] {
      refuses[change.cell] = false
      return nil
    }
    let old = change.sets.map { (cell: $0.cell, value: values[$0.cell]) }
    for set in change.sets { values[set.cell] = set.value }
    return Change(sets: old)
  }

  private mutating func record(_ sets: [(cell: Int, value: Int)], _ key: String?) -> Bool {
    guard isHeld[sets[0].cell] else { return true }
    guard let back = make(Change(sets: sets)) else { return false }
    if disabled > 0 { return true }
    undone = []
    let isAlone = open.isEmpty
    if isAlone { open = [Group(isEvent: byEvent)] }
    let last = open.count - 1
    if open[last].changes.isEmpty { open[last].key = key }
    if open[last].key != key { open[last].key = nil }
    let isKnown = open[last].changes.contains { $0.isLike(back) }
    if open[last].key != "keep" || !isKnown { open[last].changes.append(back) }
    if isAlone, !byEvent { close() }
    return true
  }

  /// Closes the innermost group.
  private mutating func close() {
    let group = open.removeLast()
    if group.changes.isEmpty { return }
    if !open.isEmpty {
      open[open.count - 1].changes += group.changes
      open[open.count - 1].key = nil
      return
    }
    if let newKey = group.key, newKey == key, var newest = done.last {
      for change in group.changes
      where newKey == "join" || !newest.changes.contains(where: { $0.isLike(change) }) {
        newest.changes.append(change)
      }
      newest.name = newest.name ?? group.name
      done[done.count - 1] = newest
    } else {
      done.append(group)
    }
    key = group.key
    trim()
  }

  private mutating func trim() {
    guard let levels else { return }
    done = done.suffix(levels)
    undone = undone.suffix(levels)
    if done.isEmpty { key = nil }
  }

  // MARK: Undo

  /// Makes changes, the newest first, and returns those that reverse them. Returns nil if one was
  /// refused and the others were taken back as far as possible.
  private mutating func perform(_ changes: [Change]) -> [Change]? {
    var back: [Change] = []
    for change in changes.reversed() where isAlive[change.cell] {
      guard let one = make(change) else {
        for change in back.reversed() { _ = make(change) }
        return nil
      }
      back.append(one)
    }
    return back
  }

  private mutating func isReady() -> Bool {
    endEvent()
    return open.isEmpty
  }

  private mutating func go(
    from: WritableKeyPath<Self, [Group]>, to: WritableKeyPath<Self, [Group]>
  ) -> Bool? {
    guard isReady() else { return nil }
    while let entry = self[keyPath: from].last, !entry.changes.contains(where: { isAlive[$0.cell] })
    {
      self[keyPath: from].removeLast()
    }
    guard let entry = self[keyPath: from].last else { return false }
    key = nil
    guard let back = perform(entry.changes) else { return nil }
    self[keyPath: from].removeLast()
    if !back.isEmpty, disabled == 0 {
      self[keyPath: to].append(Group(changes: back, name: entry.name))
    }
    trim()
    return true
  }

  private mutating func endEvent() {
    guard let event = open.first, event.isEvent else { return }
    if open.count > 1 { open[0].isOver = true } else { close() }
  }

  // MARK: Taking actions

  /// Applies an action and returns its result; nil if the stack must throw.
  mutating func take(_ action: Action) -> Bool? {
    defer { bury() }
    switch action {
    case .set(let cell, let value, let key): return record([(cell, value)], key) ? false : nil
    case .setPair(let cell, let value):
      let other = (cell + 1) % Action.cells
      guard isHeld[other] else { return false }
      return record([(cell, value), (other, value + 1)], nil) ? false : nil
    case .undo: return go(from: \.done, to: \.undone)
    case .redo: return go(from: \.undone, to: \.done)
    case .begin(let name):
      if byEvent, open.isEmpty { open = [Group(isEvent: true)] }
      open.append(Group(name: name))
    case .end:
      guard let group = open.last, !group.isEvent else { return nil }
      close()
      if open.count == 1, open[0].isEvent, open[0].isOver { close() }
    case .endEvent: endEvent()
    case .groupThatThrows(let cell, let value):
      if byEvent, open.isEmpty { open = [Group(isEvent: true)] }
      open.append(Group())
      _ = record([(cell, value)], nil)
      close()
      return nil
    case .removeAll:
      (done, undone, key) = ([], [], nil)
      for index in open.indices { open[index].changes = [] }
    case .removeCell(let cell): return isHeld[cell] ? remove(cell) : false
    case .forget(let cell): isHeld[cell] = false
    case .refuse(let cell): refuses[cell] = isAlive[cell]
    case .levels(let levels):
      self.levels = levels
      trim()
    case .byEvent(let isOn):
      byEvent = isOn
      if !isOn { endEvent() }
    case .disable: disabled += 1
    case .enable:
      if disabled == 0 { return nil }
      disabled -= 1
    case .name(let name):
      if open.isEmpty {
        if !done.isEmpty { done[done.count - 1].name = name }
      } else {
        open[0].name = name
      }
    case .markSaved:
      guard isReady() else { return nil }
      key = nil
    case .endCoalescing: key = nil
    }
    return false
  }
}

extension UndoModel {
  private mutating func remove(_ cell: Int) -> Bool {
    guard keeps(cell) else { return false }
    for list in [\Self.done, \.undone, \.open] {
      for index in self[keyPath: list].indices {
        let count = self[keyPath: list][index].changes.count
        self[keyPath: list][index].changes.removeAll { $0.cell == cell }
        let isChanged = self[keyPath: list][index].changes.count < count
        if isChanged { self[keyPath: list][index].key = nil }
      }
    }
    done.removeAll { $0.changes.isEmpty }
    undone.removeAll { $0.changes.isEmpty }
    key = nil
    return true
  }

  /// Marks cells as dead that have no owner.
  private mutating func bury() {
    for cell in isAlive.indices where isAlive[cell] && !isHeld[cell] {
      if !Action.isStrong(cell) || !keeps(cell) { isAlive[cell] = false }
    }
  }

  private func keeps(_ cell: Int) -> Bool {
    (done + undone + open).contains { $0.changes.contains { $0.cell == cell } }
  }
}
