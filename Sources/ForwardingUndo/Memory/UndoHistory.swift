// SPDX-License-Identifier: Apache-2.0
import Invocations

/// The undos and the redos of a stack, and the states of the targets between them.
///
/// Each state has a number, and each entry has the number of the state that it leads to. Undo and
/// redo keep the numbers, so that a checkpoint can be found again. If an entry is performed or
/// removed in part, the states that can no longer be reached are given new numbers. Discardable
/// entries do not count: they change no state.
///
/// No code of users runs here, except where a removed value is released; that is done after each
/// access, because a `deinit` may use the stack.
@safe
final class UndoHistory {
  typealias Direction = UndoOperation.Direction

  // SAFETY (all): the owner of the stack accesses these, each time for an instant. A replaced value
  // is retained until the access is over. To check that exclusivity at run time would cost as much
  // as a record.
  @exclusivity(unchecked) private var undos = EntryList()
  @exclusivity(unchecked) private var redos = EntryList()
  /// The state before all undos.
  @exclusivity(unchecked) private var base = 0
  /// The number of the newest state.
  @exclusivity(unchecked) private var lastState = 0
  /// The state that was saved.
  @exclusivity(unchecked) private var saved = 0

  /// Returns the number of a new state.
  @inline(__always)
  func newState() -> Int {
    unsafe lastState &+= 1
    return unsafe lastState
  }

  // MARK: Asking

  func count(_ direction: Direction) -> Int {
    unsafe direction == .undo ? undos.count : redos.count
  }

  func isEmpty(_ direction: Direction) -> Bool { count(direction) == 0 }

  /// The entry that is undone or redone next.
  func next(_ direction: Direction) -> Entry? {
    unsafe direction == .undo ? undos.last : redos.last
  }

  /// The entries, the next one last.
  func entries(_ direction: Direction) -> [Entry] {
    unsafe direction == .undo ? undos.all : redos.all
  }

  /// The lists themselves, for a release at a later point.
  var lists: (EntryList, EntryList) { unsafe (undos, redos) }

  /// The current state of the targets.
  var current: Int { unsafe undos.newest { !$0.isDiscardable }?.state ?? base }

  var isSaved: Bool { unsafe current == saved }

  func markSaved() { unsafe saved = current }

  /// The direction that leads to a state; nil if none does, or only through objects that have died.
  func direction(to state: Int) -> Direction? {
    let (undos, redos) = (entries(.undo), entries(.redo))
    if let index = undos.lastIndex(where: { $0.leads(to: state) }) {
      return undos[(index + 1)...].contains { $0.isBroken } ? nil : .undo
    }
    if unsafe state == base { return undos.contains { $0.isBroken } ? nil : .undo }
    guard let index = redos.lastIndex(where: { $0.leads(to: state) }) else { return nil }
    return redos[index...].contains { $0.isBroken } ? nil : .redo
  }

  // MARK: Adding and taking

  /// Adds a step as an undo that leads to a new state.
  @inline(__always)
  func add(_ step: consuming Step) {
    let state = newState()
    unsafe undos.append(Entry(step: step, state: state))
  }

  func append(_ entry: Entry, _ direction: Direction) {
    if direction == .undo { unsafe undos.append(entry) } else { unsafe redos.append(entry) }
  }

  /// Takes the entry that is undone or redone next.
  func take(_ direction: Direction) -> Entry? {
    unsafe direction == .undo ? undos.popLast() : redos.popLast()
  }

  /// Takes the next entry if its targets have all died. The state of the living ones stays; the
  /// states beyond never existed without the changes of this entry.
  func takeDead(_ direction: Direction) -> Entry? {
    guard let entry = next(direction), !entry.step.isAlive else { return nil }
    _ = take(direction)
    if !entry.isDiscardable {
      if direction == .undo { renumberUndos(below: entry.state) } else { renumberRedos() }
    }
    return entry
  }

  /// Changes the entry that is undone next. The caller retains what `change` replaces.
  func changeNext(_ change: (inout Entry) -> Void) { unsafe undos.replaceLast(change) }

  // MARK: Removing

  /// Removes the redos, and returns them for the caller to release.
  @discardableResult
  func removeRedos() -> EntryList {
    let old = unsafe redos
    unsafe redos = EntryList()
    return old
  }

  /// Removes the oldest entries.
  ///
  /// - Returns: The removed entries, for the caller to release.
  func trim(to levels: Int) -> [Entry] {
    var old: [Entry] = []
    while count(.undo) > levels, let entry = unsafe undos.popFirst() {
      if !entry.isDiscardable { unsafe base = entry.state }
      old.append(entry)
    }
    while count(.redo) > levels, let entry = unsafe redos.popFirst() { old.append(entry) }
    return old
  }

  /// Removes all entries. The targets are in `state`.
  func removeAll(in state: Int) {
    unsafe base = state
    replace(undos: EntryList())
    replace(redos: EntryList())
  }

  /// Removes the steps for one object.
  ///
  /// - Parameter alsoLater: whether later steps for the object were removed, which are not here.
  /// - Returns: Whether there were any.
  func remove(_ object: ObjectIdentifier, alsoLater: Bool) -> Bool {
    let isUndone = removeUndos(object, alsoLater: alsoLater)
    return removeRedos(object) || isUndone
  }

  /// Removes an object's steps from the undos. An undo then leads to a state that never existed,
  /// because the object's changes stay; such states get new numbers. If a whole entry is removed,
  /// the entry below it leads to the state of the removed one.
  private func removeUndos(_ object: ObjectIdentifier, alsoLater: Bool) -> Bool {
    var isShifted = alsoLater
    var removed = false
    var carried: Int?
    var left: [Entry] = []
    for var entry in entries(.undo).reversed() {
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
    if isShifted { unsafe base = carried ?? newState() }
    if isShifted || removed { replace(undos: EntryList(left.reversed())) }
    return removed
  }

  private func removeRedos(_ object: ObjectIdentifier) -> Bool {
    var removed = false
    var left: [Entry] = []
    for var entry in entries(.redo).reversed() {
      var changed = false
      let step = entry.step.without(object, &changed)
      removed = removed || changed
      guard let step else { continue }
      if removed { entry.state = newState() }
      left.append(entry.with(step))
    }
    if removed { replace(redos: EntryList(left.reversed())) }
    return removed
  }

  // MARK: New numbers

  /// Gives new numbers to the redos after an undo that has no redo: they now lead to states that
  /// never existed.
  func renumberRedos() {
    replace(redos: EntryList(entries(.redo).map { $0.leading(to: newState()) }))
  }

  /// Gives new numbers to the undos after a redo that has no undo: the targets are in `state`, and
  /// an undo leads to states that never existed.
  func renumberUndos(below state: Int) {
    var next: Int? = state
    let renumbered = entries(.undo).reversed().map { entry in
      guard !entry.isDiscardable else { return entry }
      defer { next = nil }
      return entry.leading(to: next ?? newState())
    }
    replace(undos: EntryList(renumbered.reversed()))
    unsafe base = next ?? newState()
  }

  /// Gives new numbers to everything: the targets, the undos and the redos lead to states that never
  /// existed.
  func renumberAll() {
    renumberRedos()
    renumberUndos(below: newState())
  }

  private func replace(undos new: EntryList) {
    let old = unsafe undos
    unsafe undos = new
    withExtendedLifetime(old) {}
  }

  private func replace(redos new: EntryList) {
    let old = unsafe redos
    unsafe redos = new
    withExtendedLifetime(old) {}
  }
}

extension Entry {
  /// Whether the targets are in this state after the entry.
  func leads(to state: Int) -> Bool { self.state == state && !isDiscardable }

  /// Whether performing it would skip a step although it is not discardable.
  fileprivate var isBroken: Bool { !isDiscardable && step.hasLost }

  func with(_ step: Step) -> Entry {
    Entry(step: step, state: state, name: name, extras: extras)
  }

  fileprivate func leading(to state: Int) -> Entry {
    Entry(step: step, state: state, name: name, extras: extras)
  }
}

extension Step {
  /// Whether the target of any part is alive.
  fileprivate var isAlive: Bool {
    guard case .group(let group) = self else { return target?.object != nil }
    return group.steps.contains { $0.isAlive }
  }

  /// Whether the target of any part has died.
  fileprivate var hasLost: Bool {
    guard case .group(let group) = self else { return target?.object == nil }
    return group.steps.contains { $0.hasLost }
  }
}
