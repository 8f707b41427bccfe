// SPDX-License-Identifier: Apache-2.0
/// The menu titles for undo and redo, with or without the name of the action.
///
/// ```swift
/// let undo = UndoStack()
/// try undo.record(on: account, Message<Int32, Int32>("deposit:"), 5)
/// undo.name = "Einzahlung"
/// undo.titles = UndoTitles(
///   undo: { $0.map { "\($0) widerrufen" } ?? "Widerrufen" },
///   redo: { $0.map { "\($0) wiederholen" } ?? "Wiederholen" })
/// undo.undoTitle  // Einzahlung widerrufen
/// undo.redoTitle  // Wiederholen
/// ```
public struct UndoTitles {
  /// The title for undo.
  public var undo: (_ name: String?) -> String
  /// The title for redo.
  public var redo: (_ name: String?) -> String

  /// Makes titles; English ones by default.
  public init(
    undo: @escaping (_ name: String?) -> String = { title("Undo", $0) },
    redo: @escaping (_ name: String?) -> String = { title("Redo", $0) }
  ) {
    self.undo = undo
    self.redo = redo
  }

  /// Joins a word and the name, if there is one.
  public static func title(_ word: String, _ name: String?) -> String {
    guard let name, !name.isEmpty else { return word }
    return "\(word) \(name)"
  }
}

extension UndoStack {
  /// The name of the action that is undone next.
  ///
  /// Setting it names the outermost open group, or the last record if none is open. During a step
  /// of an undo or redo, it names what the step records. During an awaited undo, other tasks name
  /// what they have recorded meanwhile.
  public var name: String? {
    get { isElsewhere ? undoName : open.first.map(\.name) ?? undoName }
    set {
      if isElsewhere { return changeElsewhere { $0.name = newValue } }
      if let first = open.indices.first { return open[first].name = newValue }
      history.changeNext { $0.name = newValue }
    }
  }

  /// The name of the action that is undone next.
  public var undoName: String? {
    if let event = open.first, event.kind == .byEvent, !event.steps.isEmpty { return event.name }
    return newest?.name
  }

  /// The name of the action that is redone next.
  public var redoName: String? { history.next(.redo)?.name }

  /// The menu title for undo, such as "Undo Rename".
  public var undoTitle: String { titles.undo(undoName) }

  /// The menu title for redo.
  public var redoTitle: String { titles.redo(redoName) }

  /// Whether the action that is undone next may be lost without harm, such as a change of the
  /// selection. A discardable action does not count as a modification. Set in the same way as
  /// ``name``.
  public var isDiscardable: Bool {
    get { extrasToUndo?.isDiscardable ?? false }
    set { changeExtras { .with($0, isDiscardable: newValue) } }
  }

  /// Whether the action that is redone next may be lost without harm.
  public var isRedoDiscardable: Bool { history.next(.redo)?.isDiscardable ?? false }

  /// Stores a value with the last record, or with the outermost open group. An undo copies it to
  /// the redo.
  public func setInfo(_ value: (any Sendable)?, for key: String) {
    changeExtras { .with($0, value, for: key) }
  }

  /// The value stored with the action that is undone next.
  public func undoInfo(for key: String) -> (any Sendable)? {
    extrasToUndo?.info[key]
  }

  private var extrasToUndo: UndoMetadata? {
    isElsewhere ? newest?.extras : open.first.map(\.extras) ?? history.next(.undo)?.extras
  }

  /// Whether the caller is a task outside the awaited undo in progress.
  private var isElsewhere: Bool { performance?.isElsewhere == true }

  /// The newest record. During an awaited undo, other tasks see their own records here.
  private var newest: Entry? {
    (isElsewhere ? performance?.deferred.last : nil) ?? history.next(.undo)
  }

  /// Changes the newest record of other tasks during an awaited undo. Without such a
  /// record, changes the newest one before the undo.
  private func changeElsewhere(_ change: (inout Entry) -> Void) {
    guard let performance, let index = performance.deferred.indices.last else {
      return history.changeNext(change)
    }
    change(&performance.deferred[index])
  }

  /// The value stored with the action that is redone next.
  public func redoInfo(for key: String) -> (any Sendable)? {
    history.next(.redo)?.extras?.info[key]
  }

  private func changeExtras(_ change: (UndoMetadata?) -> UndoMetadata) {
    if isElsewhere {
      let old = newest?.extras
      let new = change(old)
      changeElsewhere { $0.extras = new }
      withExtendedLifetime(old) {}
    } else if let first = open.indices.first {
      let old = open[first].extras
      open[first].extras = change(old)
      withExtendedLifetime(old) {}
    } else {
      let old = history.next(.undo)?.extras
      let new = change(old)
      history.changeNext { $0.extras = new }
      withExtendedLifetime(old) {}
    }
  }
}
