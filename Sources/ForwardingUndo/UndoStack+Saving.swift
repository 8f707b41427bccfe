// SPDX-License-Identifier: Apache-2.0
// Compares states of the targets. Each entry leads to a state with its own number.

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

/// Identifies a stack. It stays unique after the stack is gone.
final class StackIdentity: Hashable, Sendable {
  static func == (one: StackIdentity, other: StackIdentity) -> Bool { one === other }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension UndoStack {
  /// Whether the targets differ from their state at the last ``markSaved()``, or at the beginning.
  /// Undo and redo can lead back to that state. During an undo or a redo the targets are modified.
  public var isModified: Bool {
    isBetween || !history.isSaved
  }

  /// Whether a change that counts is no entry yet: it is in an open group or in an undo in
  /// progress.
  private var isBetween: Bool {
    open.counts || performance?.counts == true || waiting.contains { !$0.isDiscardable }
  }

  /// Marks the current state of the targets as saved.
  ///
  /// - Throws: ``UndoError/busy`` during an undo or redo, ``UndoError/groupIsOpen(depth:)`` while a
  ///   group is open.
  public func markSaved() throws(UndoError) {
    try checkReady()
    history.markSaved()
    endCoalescing()
  }

  /// A checkpoint of the current state of the targets, for `go(to:)`.
  ///
  /// - Throws: ``UndoError/busy`` during an undo or redo, ``UndoError/groupIsOpen(depth:)`` while a
  ///   group is open.
  public func checkpoint() throws(UndoError) -> UndoCheckpoint {
    try checkReady()
    endCoalescing()
    return UndoCheckpoint(stack: identity, state: history.current)
  }

  /// Whether the targets are in the state of the checkpoint. False during an undo or a redo.
  public func isAt(_ checkpoint: UndoCheckpoint) -> Bool {
    checkpoint.stack == identity && checkpoint.state == history.current && !isBetween
  }

  /// Ends coalescing: the next record does not join the newest one.
  public func endCoalescing() {
    coalescing = nil
    update()
  }
}

extension UndoOperation {
  /// Whether it or another task meanwhile has made a change that counts. A running step may have.
  fileprivate var counts: Bool {
    outer.counts || entry?.isDiscardable != true
      || stages.contains { $0.entry?.isDiscardable != true }
      || deferred.contains { !$0.isDiscardable } || parent?.counts == true
  }
}

extension [OpenGroup] {
  /// Whether they contain a change that counts. The outermost group decides whether it is
  /// discardable.
  fileprivate var counts: Bool {
    first?.extras?.isDiscardable != true && contains { !$0.steps.isEmpty }
  }
}
