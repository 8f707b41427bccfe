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
/// Each change records what takes it back. An undo does that, and what is recorded meanwhile is the redo. Behind a face
/// the record is a call: `undo.record(on: note, as: NoteProxy.self) { $0.setText(old) }`.
///
/// An undo stack belongs to whom its targets belong to: an actor, the main one, or a thread. It is not `Sendable`, so the
/// compiler keeps it there.
public final class UndoStack {
  /// What each record looks at.
  let records = RecordState()
  /// What can be redone, newest last.
  var undone = EntryList()
  /// Outermost first. While a step is performed, what it records is in a group of its own here.
  var open: [OpenGroup] = []
  var phase = Phase.idle
  var disabledCount = 0
  /// How the newest entry coalesces with what comes next, and until when.
  var coalescing: (key: String, deadline: ContinuousClock.Instant?)?
  /// What is still to become a part of it, the next one last, for each group that is being closed.
  var closing: [[Step]] = []
  /// What others recorded while an undo was awaited that is over, and is still to become undos.
  var waiting: [Entry] = []

  let identity = StackIdentity()
  /// The state in front of all entries.
  var baseState = 0
  var savedState = 0
  var lastGroup = 0

  var observers: [UndoObserver] = []
  var lastObserver = 0

  var lastCheck: RecordCheck?

  /// What time it is, for pauses.
  var now: () -> ContinuousClock.Instant = { .now }

  enum Phase {
    case idle
    /// Observers are told that an undo is about to begin.
    case announcing
    case performing(Performance)
  }

  /// Makes an empty stack, whose every record is an undo of its own.
  public init() {}

  /// How many undos are kept; nil for all. The oldest go first.
  public var levels: Int? {
    didSet {
      // A negative one keeps nothing, as 0 does.
      let old = trim()
      update()
      withExtendedLifetime(old) {}
    }
  }

  /// Whether records of one event are undone at once. See ``onEvent``.
  public var groupsByEvent = false {
    didSet {
      if !groupsByEvent { endEvent() }
      update()
    }
  }

  /// Called when the first record of an event has opened its group: whoever knows when the event ends calls
  /// ``endEvent()`` then.
  public var onEvent: (() -> Void)?

  /// Hears of what no caller is told; ``ForwardingEvent`` if there is none.
  public var onDiagnostic: ((Diagnostic) -> Void)?

  /// What the menu says.
  public var titles = UndoTitles()

  /// Notes what a record has to look at.
  func update() {
    var isIdle = false
    if case .idle = phase { isIdle = true }
    records.isPlain =
      isIdle && open.isEmpty && disabledCount == 0 && !groupsByEvent && observers.isEmpty
    records.hasMore = levels != nil || !undone.isEmpty || coalescing != nil
  }

  func newState() -> Int { records.newState() }

  var done: EntryList {
    get { records.done }
    set { records.done = newValue }
  }
}

// MARK: Asking

extension UndoStack {
  var performance: Performance? {
    if case .performing(let performance) = phase { performance } else { nil }
  }

  /// Whether an undo would have something to do now.
  public var canUndo: Bool {
    guard case .idle = phase else { return false }
    guard let group = open.last else { return !done.isEmpty }
    return group.kind == .byEvent && (!done.isEmpty || !group.steps.isEmpty)
  }

  /// Whether a redo would have something to do now.
  public var canRedo: Bool {
    guard case .idle = phase, !undone.isEmpty else { return false }
    return open.last.map { $0.kind == .byEvent && $0.steps.isEmpty } ?? true
  }

  /// How many undos there are.
  public var undoCount: Int {
    done.count + (open.first.map { $0.kind == .byEvent && !$0.steps.isEmpty } == true ? 1 : 0)
  }

  /// How many redos there are.
  public var redoCount: Int { undone.count }

  /// Whether an undo is being performed.
  public var isUndoing: Bool { performance?.direction == .undo }

  /// Whether a redo is being performed.
  public var isRedoing: Bool { performance?.direction == .redo }

  /// How many groups are open, inside of each other.
  public var groupDepth: Int { open.count }
}
