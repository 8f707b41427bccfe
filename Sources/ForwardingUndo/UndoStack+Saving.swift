// Where the targets are, compared with where they were: each entry leads to a state with a number of its own.

/// A place in the history of an undo stack.
///
/// ```swift
/// let undo = UndoStack()
/// let start = try undo.checkpoint()
/// try undo.record(on: account, Message<Int32, Int32>("deposit:"), 5)
/// undo.isAt(start)         // false
/// try undo.go(to: start)
/// undo.isAt(start)         // true
/// ```
public struct UndoCheckpoint: Hashable, Sendable {
  let stack: StackIdentity
  let state: Int
}

/// Tells stacks apart, also those that are gone.
final class StackIdentity: Hashable, Sendable {
  static func == (one: StackIdentity, other: StackIdentity) -> Bool { one === other }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension UndoStack {
  /// The state that the targets are in.
  var currentState: Int { done.newest { !$0.isDiscardable }?.state ?? baseState }

  /// Whether the targets are not as they were when ``markSaved()`` was called last, or at the beginning. Undo and redo
  /// lead back there; while one is under way, the targets are modified.
  public var isModified: Bool {
    isBetween || currentState != savedState
  }

  /// Whether something has changed that counts, and is no entry: an open group, or an undo that is under way.
  private var isBetween: Bool {
    open.counts || performance?.counts == true || waiting.contains { !$0.isDiscardable }
  }

  /// Notes that the targets are saved as they are.
  public func markSaved() throws(UndoError) {
    try checkReady()
    savedState = currentState
    endCoalescing()
  }

  /// Where the targets are now, to come back to it.
  public func checkpoint() throws(UndoError) -> UndoCheckpoint {
    try checkReady()
    endCoalescing()
    return UndoCheckpoint(stack: identity, state: currentState)
  }

  /// Whether the targets are where they were. While an undo or a redo is under way they are nowhere.
  public func isAt(_ checkpoint: UndoCheckpoint) -> Bool {
    checkpoint.stack == identity && checkpoint.state == currentState && !isBetween
  }

  /// The next record does not coalesce with what is there.
  public func endCoalescing() {
    coalescing = nil
    update()
  }

  /// An undo has no redo: what a redo leads to now has not been before.
  func renumberRedo() {
    undone = EntryList(
      undone.all.map { Entry(step: $0.step, state: newState(), name: $0.name, extras: $0.extras) })
  }

  /// The targets are where they never were, and so is what undo and redo lead to.
  func renumberAll() {
    renumberRedo()
    renumberDone(below: newState())
  }

  /// A redo has no undo: the targets are in `state`, and what an undo leads to has not been before.
  func renumberDone(below state: Int) {
    var next: Int? = state
    let entries = done.all.reversed().map { entry in
      guard !entry.isDiscardable else { return entry }
      defer { next = nil }
      return Entry(
        step: entry.step, state: next ?? newState(), name: entry.name, extras: entry.extras)
    }
    done = EntryList(entries.reversed())
    baseState = next ?? newState()
  }
}

extension Performance {
  /// Whether it has changed anything that counts, or others have meanwhile. A step that runs may have.
  fileprivate var counts: Bool {
    outer.counts || entry?.isDiscardable != true
      || stages.contains { $0.entry?.isDiscardable != true }
      || deferred.contains { !$0.isDiscardable } || parent?.counts == true
  }
}

extension [OpenGroup] {
  /// Whether they have changed anything that counts, which the outermost one says.
  fileprivate var counts: Bool {
    first?.extras?.isDiscardable != true && contains { !$0.steps.isEmpty }
  }
}
