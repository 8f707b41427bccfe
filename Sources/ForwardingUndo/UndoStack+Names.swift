/// What the menu says for undo and redo, with the name of the action or without.
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

  /// Makes titles; in English, unless told otherwise.
  public init(
    undo: @escaping (_ name: String?) -> String = { title("Undo", $0) },
    redo: @escaping (_ name: String?) -> String = { title("Redo", $0) }
  ) {
    self.undo = undo
    self.redo = redo
  }

  /// A word, and behind it the name, if there is one.
  public static func title(_ word: String, _ name: String?) -> String {
    guard let name, !name.isEmpty else { return word }
    return "\(word) \(name)"
  }
}

extension UndoStack {
  /// The name of the action that is undone next. To set it names the outermost group that is open, or else what was
  /// recorded last; while a step is undone or redone, what it records. Where that is awaited, others name what they
  /// recorded meanwhile.
  public var name: String? {
    get { isElsewhere ? undoName : open.first.map(\.name) ?? undoName }
    set {
      if isElsewhere { return changeElsewhere { $0.name = newValue } }
      if let first = open.indices.first { return open[first].name = newValue }
      records.replaceLast { $0.name = newValue }
    }
  }

  /// The name of what is undone next.
  public var undoName: String? {
    if let event = open.first, event.kind == .byEvent, !event.steps.isEmpty { return event.name }
    return newest?.name
  }

  /// The name of what is redone next.
  public var redoName: String? { undone.last?.name }

  /// What the menu says for undo: "Undo Rename".
  public var undoTitle: String { titles.undo(undoName) }

  /// What the menu says for redo.
  public var redoTitle: String { titles.redo(redoName) }

  /// Whether what is undone next may be lost without harm, as a change of what is selected: it does not count as a
  /// modification. Set as ``name`` is.
  public var isDiscardable: Bool {
    get { extrasToUndo?.isDiscardable ?? false }
    set { changeExtras { .with($0, isDiscardable: newValue) } }
  }

  /// Whether what is redone next may be lost without harm.
  public var isRedoDiscardable: Bool { undone.last?.isDiscardable ?? false }

  /// Keeps a value with what was recorded last, or with the outermost group that is open. It goes along to the redo.
  public func setInfo(_ value: (any Sendable)?, for key: String) {
    changeExtras { .with($0, value, for: key) }
  }

  /// The value that is kept with what is undone next.
  public func undoInfo(for key: String) -> (any Sendable)? {
    extrasToUndo?.info[key]
  }

  private var extrasToUndo: Extras? {
    isElsewhere ? newest?.extras : open.first.map(\.extras) ?? done.last?.extras
  }

  /// Whether the caller is no part of the undo that is awaited.
  private var isElsewhere: Bool { performance?.isElsewhere == true }

  /// What was recorded last, and is undone next; of what is recorded while an undo is awaited, those know who did it.
  private var newest: Entry? {
    isElsewhere ? performance?.deferred.last ?? done.last : done.last
  }

  /// Changes what others recorded last while an undo is awaited; without that, what had been recorded before.
  private func changeElsewhere(_ change: (inout Entry) -> Void) {
    guard let performance, let index = performance.deferred.indices.last else {
      return records.replaceLast(change)
    }
    change(&performance.deferred[index])
  }

  /// The value that is kept with what is redone next.
  public func redoInfo(for key: String) -> (any Sendable)? { undone.last?.extras?.info[key] }

  private func changeExtras(_ change: (Extras?) -> Extras) {
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
      let old = done.last?.extras
      let new = change(old)
      records.replaceLast { $0.extras = new }
      withExtendedLifetime(old) {}
    }
  }
}
