// SPDX-License-Identifier: Apache-2.0
/// The undos and the redos of a stack, and the place among them where the targets were saved.
///
/// A place is a number of undos: it is reached when the stack has as many. Undo and redo lead from
/// place to place. Where they no longer lead back to the saved one, it is forgotten.
///
/// A removed entry is returned, or the caller retains a copy of the history: releasing an entry can
/// run a `deinit` that uses the stack, which must not happen while the history changes.
struct History {
  private(set) var undos = EntryList()
  private(set) var redos = EntryList()
  /// The place where the targets were saved; nil if no undo or redo leads there.
  private var saved: Int? = 0

  enum Direction { case undo, redo }

  func entries(_ direction: Direction) -> EntryList { direction == .undo ? undos : redos }

  // MARK: Saving

  var isSaved: Bool { saved == undos.count }

  mutating func markSaved() { saved = undos.count }

  mutating func forgetSaved() { saved = nil }

  // MARK: Adding

  /// Adds an entry. Before a record is added, the redos are dropped.
  mutating func append(_ entry: Entry, _ direction: Direction) {
    if direction == .undo { undos.append(entry) } else { redos.append(entry) }
  }

  /// Adds a step to the next undo.
  mutating func extend(by step: Step) {
    undos.changeLast { entry in
      if case .group(let group) = entry.step {
        // Appended in place: the group has no other owner, and it may be long.
        group.steps.append(step)
      } else {
        entry.step = .group(StepGroup(name: nil, steps: [entry.step, step]))
      }
    }
  }

  /// Names the next undo.
  mutating func setName(_ name: String?) { undos.changeLast { $0.name = name } }

  /// Drops the redos, because the targets were changed, and returns them.
  mutating func dropRedos() -> EntryList {
    if let saved, saved > undos.count { self.saved = nil }
    if redos.isEmpty { return redos }
    let old = redos
    redos = EntryList()
    return old
  }

  // MARK: Undo and redo

  /// Takes the entry that is undone or redone next.
  mutating func take(_ direction: Direction) -> Entry? {
    direction == .undo ? undos.popLast() : redos.popLast()
  }

  /// Takes the next entry if its targets have all died. The places beyond never existed without the
  /// changes of this entry.
  mutating func takeDead(_ direction: Direction) -> Entry? {
    guard let entry = entries(direction).last, !entry.step.isAlive else { return nil }
    let here = undos.count
    if direction == .undo {
      saved = saved.flatMap { $0 < here ? nil : $0 - 1 }
    } else {
      saved = saved.flatMap { $0 > here ? nil : $0 }
    }
    return take(direction)
  }

  /// Ends an undo or a redo.
  ///
  /// - Parameters:
  ///   - back: what reverses it; nil if nothing does.
  ///   - leadsHere: whether all of its steps were performed, so that the targets are in the state
  ///     that it leads to.
  ///   - leadsBack: whether `back` leads to the state before.
  mutating func finish(
    _ direction: Direction, back: Entry?, leadsHere: Bool, leadsBack: Bool
  ) {
    let here = undos.count + (direction == .redo ? 1 : 0)
    if let saved {
      let isAhead = direction == .undo ? saved <= here : saved >= here
      if isAhead ? !leadsHere : !leadsBack { self.saved = nil }
    }
    if let back {
      append(back, direction == .undo ? .redo : .undo)
    } else if direction == .redo {
      saved = saved.map { $0 - 1 }
    }
  }

  // MARK: Removing

  /// Removes the oldest entries beyond a limit, and returns them.
  mutating func trim(to levels: Int) -> [Entry] {
    var old: [Entry] = []
    while undos.count > levels, let entry = undos.popFirst() {
      saved = saved.flatMap { $0 == 0 ? nil : $0 - 1 }
      old.append(entry)
    }
    while redos.count > levels, let entry = redos.popFirst() { old.append(entry) }
    return old
  }

  /// Removes all entries. The targets keep their state.
  mutating func removeAll() {
    saved = isSaved ? 0 : nil
    (undos, redos) = (EntryList(), EntryList())
  }

  /// Removes the steps for one object. Its changes stay, so no undo or redo through these steps
  /// leads to a place that existed.
  ///
  /// - Returns: false if there were none.
  mutating func remove(_ object: ObjectIdentifier) -> Bool {
    let (below, lowest) = undos.without(object)
    let (above, highest) = redos.without(object)
    if lowest == nil, highest == nil { return false }
    let places = (lowest ?? 0)...(undos.count + redos.count - (highest ?? 0))
    let removed = undos.count - below.count
    saved = saved.flatMap { places.contains($0) ? $0 - removed : nil }
    (undos, redos) = (EntryList(below), EntryList(above))
    return true
  }
}

/// A stack that can also drop its oldest entry, in amortized constant time.
struct EntryList {
  private var slots: [Entry?] = []
  /// The number of empty slots at the front.
  private var first = 0

  init(_ entries: [Entry] = []) { slots = entries }

  var count: Int { slots.count - first }
  var isEmpty: Bool { slots.count == first }
  var last: Entry? { slots.last ?? nil }

  /// The entries, oldest first.
  var all: [Entry] { slots[first...].compactMap { $0 } }

  mutating func append(_ entry: Entry) { slots.append(entry) }

  mutating func popLast() -> Entry? { isEmpty ? nil : slots.removeLast() }

  mutating func popFirst() -> Entry? {
    guard !isEmpty else { return nil }
    let oldest = slots[first].take()
    first += 1
    // More than half of the slots are empty: the others move to the front. On average each entry
    // moves once.
    if first > 16, first > slots.count / 2 {
      slots.removeFirst(first)
      first = 0
    }
    return oldest
  }

  mutating func changeLast(_ change: (inout Entry) -> Void) {
    guard var entry = last else { return }
    change(&entry)
    slots[slots.count - 1] = entry
  }

  /// Returns the entries without the steps for one object, and the number of entries up to the last
  /// one that had such steps; nil if none had.
  func without(_ object: ObjectIdentifier) -> (left: [Entry], changed: Int?) {
    var left: [Entry] = []
    var changed: Int?
    for (index, entry) in all.enumerated() {
      var isChanged = false
      if let rest = entry.without(object, &isChanged) { left.append(rest) }
      if isChanged { changed = index + 1 }
    }
    return (left, changed)
  }
}
