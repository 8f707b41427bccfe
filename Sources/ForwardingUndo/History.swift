// SPDX-License-Identifier: Apache-2.0
/// The undos and the redos of a stack, and the place among them where the targets were saved.
///
/// A place is a number of undos: it is reached when the stack has as many. Undo and redo lead from
/// place to place. Where a step is removed, skipped, or not reversed, the places around it are not
/// the old ones any more: only the place where the targets are is then still known.
///
/// A removed entry is returned, or the caller retains a copy of the history: releasing an entry can
/// run a `deinit` that uses the stack, which must not happen while the history changes.
struct History {
  private(set) var undos: [Entry] = []
  private(set) var redos: [Entry] = []
  /// The place where the targets were saved; nil if no undo or redo leads there.
  private var saved: Int? = 0

  enum Direction { case undo, redo }

  func entries(_ direction: Direction) -> [Entry] { direction == .undo ? undos : redos }

  // MARK: Saving

  var isSaved: Bool { saved == undos.count }

  mutating func markSaved() { saved = undos.count }

  mutating func forgetSaved() { saved = nil }

  // MARK: Adding

  /// Adds an entry. Before a record is added, the redos are dropped.
  mutating func append(_ entry: consuming Entry, _ direction: Direction) {
    if direction == .undo { undos.append(entry) } else { redos.append(entry) }
  }

  /// Adds a step to the next undo.
  mutating func extend(by step: Step) {
    guard let last = undos.indices.last else { return }
    if case .group(let group) = undos[last].step {
      // Appended in place: the group has no other owner, and it may be long.
      group.steps.append(step)
    } else {
      undos[last].step = .group(StepGroup(name: nil, steps: [undos[last].step, step]))
    }
  }

  /// Names the next undo.
  mutating func setName(_ name: String?) {
    if let last = undos.indices.last { undos[last].name = name }
  }

  /// Drops the redos, because the targets were changed, and returns them.
  mutating func dropRedos() -> [Entry] {
    if let saved, saved > undos.count { self.saved = nil }
    if redos.isEmpty { return [] }
    defer { redos = [] }
    return redos
  }

  // MARK: Undo and redo

  /// Takes the entry that is undone or redone next.
  mutating func take(_ direction: Direction) -> Entry? {
    direction == .undo ? undos.popLast() : redos.popLast()
  }

  /// Takes the next entry if its targets have all died.
  mutating func takeDead(_ direction: Direction) -> Entry? {
    guard let entry = entries(direction).last, !entry.step.isAlive else { return nil }
    let isSaved = isSaved
    _ = take(direction)
    saved = isSaved ? undos.count : nil
    return entry
  }

  /// Ends an undo or a redo.
  ///
  /// - Parameters:
  ///   - back: what was recorded.
  ///   - leadsHere: whether all of its steps were performed, so that the targets are in the state
  ///     that it leads to.
  ///   - leadsBack: whether `back` reverses all of them.
  mutating func finish(
    _ direction: Direction, back: Entry?, leadsHere: Bool, leadsBack: Bool
  ) {
    let isSaved = leadsHere && saved == undos.count + (direction == .redo ? 1 : 0)
    if let back { append(back, direction == .undo ? .redo : .undo) }
    if !leadsHere || !leadsBack { saved = isSaved ? undos.count : nil }
  }

  // MARK: Removing

  /// Removes the oldest entries beyond a limit, and returns them.
  mutating func trim(to levels: Int) -> [Entry] {
    let (undone, redone) = (max(0, undos.count - levels), max(0, redos.count - levels))
    let old = Array(undos.prefix(undone) + redos.prefix(redone))
    saved = saved.flatMap { $0 < undone ? nil : $0 - undone }
    undos.removeFirst(undone)
    redos.removeFirst(redone)
    return old
  }

  mutating func removeAll() {
    saved = isSaved ? 0 : nil
    (undos, redos) = ([], [])
  }

  /// Removes the steps for one object. Returns false if there were none.
  mutating func remove(_ object: ObjectIdentifier) -> Bool {
    let isSaved = isSaved
    let isUndone = undos.remove(object)
    let isChanged = redos.remove(object) || isUndone
    if isChanged { saved = isSaved ? undos.count : nil }
    return isChanged
  }
}
