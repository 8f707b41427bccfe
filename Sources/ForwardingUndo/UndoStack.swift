// SPDX-License-Identifier: Apache-2.0
import Forwarding

/// Undo and redo, made of recorded calls.
///
/// ```swift
/// final class Note {
///   let undo = UndoStack()
///   private(set) var text = ""
///   func setText(_ new: String) {
///     undo.record(on: self) { [text] note in note.setText(text) }
///     text = new
///   }
/// }
/// let note = Note()
/// note.setText("one")
/// note.setText("two")
/// try note.undo.undo()
/// note.text  // one
/// try note.undo.redo()
/// note.text  // two
/// ```
///
/// Each change records how it is undone. Records made during an undo become the redo. With a
/// face, the record is a call: `undo.record(on: note, as: NoteProxy.self) { $0.setText(old) }`.
///
/// An undo stack belongs to the owner of its targets: the main actor, another actor, or a thread.
/// It is not `Sendable`, so the compiler enforces that.
public final class UndoStack {
  let history = UndoHistory()
  /// What each record reads before it adds an entry.
  let records = RecordState()
  /// The open groups, outermost first. During a step, the first one collects what the step records.
  var open: [OpenGroup] = []
  var phase = Phase.idle
  var disabledCount = 0
  /// The key that the next record must have to join the newest entry, and the deadline.
  var coalescing: (key: String, deadline: ContinuousClock.Instant?)?
  /// The steps still to be coalesced, the next one last, for each group that is being closed.
  var closing: [[Step]] = []
  /// Entries that other tasks recorded during an awaited undo, and that are still to be added.
  var waiting: [Entry] = []

  let identity = StackIdentity()
  let observers = UndoObservers()
  var lastGroup = 0

  var lastCheck: RecordCheck?

  /// The clock for pauses.
  var now: () -> ContinuousClock.Instant = { .now }

  enum Phase {
    case idle
    /// Observers are being notified that an undo is about to begin.
    case announcing
    case performing(UndoOperation)
  }

  /// Makes an empty stack. Each record is an undo of its own.
  public init() {}

  /// The number of undos that are retained; nil for all. The oldest are removed first.
  public var levels: Int? {
    didSet {
      // A negative value retains nothing, as 0 does.
      let old = trim()
      update()
      withExtendedLifetime(old) {}
    }
  }

  /// Whether one undo undoes all records of an event. See ``onEvent``.
  public var groupsByEvent = false {
    didSet {
      if !groupsByEvent { endEvent() }
      update()
    }
  }

  // `didSet` keeps the old value until the change is over: its `deinit` may use the stack.

  /// Called when the first record of an event has opened its group. The application calls
  /// ``endEvent()`` when the event ends.
  public var onEvent: (() -> Void)? { didSet { withExtendedLifetime(oldValue) {} } }

  /// Called for problems that no caller learns of. If nil, they go to ``ForwardingEvent``.
  public var onDiagnostic: ((Diagnostic) -> Void)? {
    didSet { withExtendedLifetime(oldValue) {} }
  }

  /// The menu titles.
  public var titles = UndoTitles() { didSet { withExtendedLifetime(oldValue) {} } }

  /// Updates the flags that a record checks.
  func update() {
    var isIdle = false
    if case .idle = phase { isIdle = true }
    records.isPlain =
      isIdle && open.isEmpty && disabledCount == 0 && !groupsByEvent && observers.isEmpty
    records.hasMore = levels != nil || !history.isEmpty(.redo) || coalescing != nil
  }
}

// MARK: Asking

extension UndoStack {
  var performance: UndoOperation? {
    if case .performing(let performance) = phase { performance } else { nil }
  }

  /// Whether there is something to undo now.
  public var canUndo: Bool {
    guard case .idle = phase else { return false }
    guard let group = open.last else { return !history.isEmpty(.undo) }
    return group.kind == .byEvent && (!history.isEmpty(.undo) || !group.steps.isEmpty)
  }

  /// Whether there is something to redo now.
  public var canRedo: Bool {
    guard case .idle = phase, !history.isEmpty(.redo) else { return false }
    return open.last.map { $0.kind == .byEvent && $0.steps.isEmpty } ?? true
  }

  /// The number of undos.
  public var undoCount: Int {
    history.count(.undo)
      + (open.first.map { $0.kind == .byEvent && !$0.steps.isEmpty } == true ? 1 : 0)
  }

  /// The number of redos.
  public var redoCount: Int { history.count(.redo) }

  /// Whether an undo is being performed.
  public var isUndoing: Bool { performance?.direction == .undo }

  /// Whether a redo is being performed.
  public var isRedoing: Bool { performance?.direction == .redo }

  /// The number of open groups, nested ones included.
  public var groupDepth: Int { open.count }
}
