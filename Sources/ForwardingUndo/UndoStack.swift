// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations

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
/// proxy, the record is a call: `undo.record(on: note, as: NoteProxy.self) { $0.setText(old) }`.
///
/// An undo stack belongs to the owner of its targets: the main actor, another actor, or a thread.
/// It is not `Sendable`, so the compiler enforces that.
public final class UndoStack {
  // Code of users runs where it is called, and where a step is released: the `deinit` of a target or
  // of an argument may use the stack. So what is removed is kept until the change is over.
  private var history = History()
  /// The open groups, outermost first. During an undo, the first one collects what its steps record.
  private var open: [OpenGroup] = []
  private var running: RunningUndo?
  private var isNotifying = false
  /// The number of unmatched `disableRecording()` calls.
  private var disabledCount = 0
  /// What the newest entry consists of, while records with its key join it.
  private var joined: JoinedRecords?

  /// The reference to the last target: successive records often have the same one.
  var lastTarget: ObjectReference? { didSet { withExtendedLifetime(oldValue) {} } }
  /// The recorder of the last record through a proxy.
  var freeRecorder: ProxyRecorder?

  /// Makes an empty stack. Each record is an undo of its own.
  public init() {}

  /// The number of undos that are retained; nil for all. The oldest are removed first. A negative
  /// number retains nothing, as 0 does.
  public var levels: Int? {
    didSet {
      trim()
      notify(onChange)
    }
  }

  /// Whether one undo undoes all records of an event. See ``onEvent``.
  public var groupsByEvent = false { didSet { if !groupsByEvent { endEvent() } } }

  // `didSet` keeps the old value until the change is over: its `deinit` may use the stack.

  /// Called when the first record of an event has opened its group. The application calls
  /// ``endEvent()`` when the event ends.
  public var onEvent: (() -> Void)? { didSet { withExtendedLifetime(oldValue) {} } }

  // A handler is not called for what it, or another of these two, does itself.

  /// Called when a group is about to be closed, or an undo or a redo to begin. Records made now are
  /// part of it, or are undone by it.
  public var onCheckpoint: (() -> Void)? { didSet { withExtendedLifetime(oldValue) {} } }

  /// Called when a record, a name, a closed group, a removal, or the end of an undo or a redo has
  /// changed what can be undone. The time to update a menu.
  public var onChange: (() -> Void)? { didSet { withExtendedLifetime(oldValue) {} } }

  /// Called for problems that no caller learns of. If nil, they go to ``ForwardingEvent``.
  public var onDiagnostic: ((Diagnostic) -> Void)? {
    didSet { withExtendedLifetime(oldValue) {} }
  }

  private func notify(_ handler: (() -> Void)?) {
    guard let handler, !isNotifying else { return }
    isNotifying = true
    defer { isNotifying = false }
    handler()
  }

  func diagnose(_ diagnostic: Diagnostic) {
    if let onDiagnostic { return onDiagnostic(diagnostic) }
    EventReports.report(.undo("\(diagnostic)"))
  }
}

// MARK: Asking

extension UndoStack {
  /// Whether there is something to undo now.
  public var canUndo: Bool {
    undoCount > 0 && running == nil && open.allSatisfy { $0.kind == .byEvent }
  }

  /// Whether there is something to redo now.
  public var canRedo: Bool {
    redoCount > 0 && running == nil && open.allSatisfy { $0.kind == .byEvent && $0.steps.isEmpty }
  }

  /// The number of undos.
  public var undoCount: Int { history.undos.count + (openEvent == nil ? 0 : 1) }

  /// The number of redos.
  public var redoCount: Int { history.redos.count }

  /// Whether an undo is being performed.
  public var isUndoing: Bool { running?.direction == .undo }

  /// Whether a redo is being performed.
  public var isRedoing: Bool { running?.direction == .redo }

  /// The number of open groups, nested ones included.
  public var groupDepth: Int { open.count }

  /// Descriptions of the undos, the next one last: names, classes, messages, and arguments as text.
  public var steps: [String] { history.undos.map(\.text) }

  /// Descriptions of the redos, the next one last.
  public var redoSteps: [String] { history.redos.map(\.text) }

  /// The group of an event that has records.
  private var openEvent: OpenGroup? {
    open.first.flatMap { $0.kind == .byEvent && !$0.steps.isEmpty ? $0 : nil }
  }

  /// The name of the action that is undone next.
  ///
  /// Setting it names the outermost open group, or the last record if none is open. During an undo
  /// or a redo, it names what the steps record.
  public var name: String? {
    get { open.first.map(\.name) ?? undoName }
    set {
      if open.isEmpty { history.setName(newValue) } else { open[0].name = newValue }
      notify(onChange)
    }
  }

  /// The name of the action that is undone next.
  public var undoName: String? { openEvent.map(\.name) ?? history.undos.last?.name }

  /// The name of the action that is redone next.
  public var redoName: String? { history.redos.last?.name }

  /// The English menu title for undo, such as "Undo Rename".
  public var undoTitle: String { Self.title("Undo", undoName) }

  /// The English menu title for redo.
  public var redoTitle: String { Self.title("Redo", redoName) }

  private static func title(_ word: String, _ name: String?) -> String {
    name.map { $0.isEmpty ? word : "\(word) \($0)" } ?? word
  }
}

// MARK: Adding

extension UndoStack {
  /// Whether a record is ignored. One made by an undo is ignored only if a step of that undo
  /// disabled recording: a rollback needs the others.
  var isIgnoring: Bool { disabledCount > (running?.disabledBefore ?? 0) }

  /// Adds a step to the open group, or as an entry.
  func add(_ step: Step, _ rule: UndoCoalescing?) {
    if let running {
      running.recorded += 1
      return open[open.count - 1].append(step)
    }
    let old = history.dropRedos()
    if !open.isEmpty {
      open[open.count - 1].append(step, rule)
    } else if groupsByEvent {
      beginEvent(step, rule)
    } else if let rule {
      var group = OpenGroup(kind: .byHand)
      group.append(step, rule)
      keep(group)
    } else {
      if joined != nil { joined = nil }
      history.append(Entry(step: step), .undo)
      if levels != nil { trim() }
    }
    if onChange != nil { notify(onChange) }
    withExtendedLifetime(old) {}
  }

  /// Adds a closed group as a new entry, or to the newest one that its records join.
  private func keep(_ group: OpenGroup) {
    guard let step = group.steps.asOne(name: group.name) else { return }
    let new = group.joined
    // Moved out of the property, so that the set in it is not copied.
    var going = joined
    joined = nil
    if let new, going?.key == new.key {
      for step in group.steps where going?.keeps(step, new.rule) == true {
        history.extend(by: step)
      }
      if let name = group.name, undoName == nil { history.setName(name) }
    } else {
      history.append(Entry(step: step, name: group.name), .undo)
      going = new
    }
    joined = going
    trim()
  }

  /// Removes the entries beyond `levels`.
  private func trim() {
    guard let levels else { return }
    let old = history.trim(to: max(0, levels))
    if history.undos.isEmpty { joined = nil }
    withExtendedLifetime(old) {}
  }

  /// Disables recording until ``enableRecording()`` has been called as often.
  public func disableRecording() { disabledCount += 1 }

  /// Reverses one ``disableRecording()``.
  ///
  /// - Throws: ``UndoError/notDisabled`` if recording is enabled.
  public func enableRecording() throws(UndoError) {
    guard disabledCount > 0 else { throw .notDisabled }
    disabledCount -= 1
  }

  /// Whether recording is enabled.
  public var isRecordingEnabled: Bool { disabledCount == 0 }

  /// Runs `body` with recording disabled.
  public func withoutRecording<Result>(_ body: () throws -> Result) rethrows -> Result {
    disabledCount += 1
    defer { disabledCount = max(0, disabledCount - 1) }
    return try body()
  }

  /// Ends coalescing: the next record does not join the newest one.
  public func endCoalescing() { joined = nil }
}

// MARK: Groups

extension UndoStack {
  /// The limit of nested groups. Recursive functions process the groups.
  private static let depthLimit = 100

  /// Begins a group: one undo undoes everything that is recorded until its end. Groups nest up to
  /// 100 deep, the event's group included.
  ///
  /// - Throws: ``UndoError/tooDeep(limit:)`` beyond that.
  public func beginGroup(_ name: String? = nil) throws(UndoError) { _ = try openGroup(name) }

  /// Begins a group, and returns the number of groups around it.
  private func openGroup(_ name: String?) throws(UndoError) -> Int {
    let isFirst = groupsByEvent && open.isEmpty
    guard open.count + (isFirst ? 1 : 0) < Self.depthLimit else {
      throw .tooDeep(limit: Self.depthLimit)
    }
    if isFirst { beginEvent() }
    open.append(OpenGroup(kind: .byHand, name: name))
    return open.count - 1
  }

  private func beginEvent(_ step: Step? = nil, _ rule: UndoCoalescing? = nil) {
    var group = OpenGroup(kind: .byEvent)
    if let step { group.append(step, rule) }
    open.append(group)
    onEvent?()
  }

  /// Ends the group that was begun last. An empty group leaves no undo.
  ///
  /// - Throws: ``UndoError/noGroupIsOpen`` if no group is open that was begun by
  ///   ``beginGroup(_:)``.
  public func endGroup() throws(UndoError) {
    guard open.last?.kind == .byHand else { throw .noGroupIsOpen }
    close(to: open.count - 1)
  }

  /// Makes one undo of everything that is recorded in `body`. If `body` throws, the group ends there
  /// and keeps its records.
  ///
  /// - Throws: the error of `body`; ``UndoError/tooDeep(limit:)``.
  public func group<Result>(
    _ name: String? = nil, _ body: () throws -> Result
  ) throws -> Result {
    let depth = try openGroup(name)
    defer {
      tellLeftOpen(beyond: depth + 1)
      close(to: depth)
    }
    return try body()
  }

  private func tellLeftOpen(beyond depth: Int) {
    if open.count > depth, let group = open.last { diagnose(.groupLeftOpen(group.name)) }
  }

  /// Ends the event: one undo undoes everything that was recorded since it began.
  ///
  /// If a group begun by ``beginGroup(_:)`` is open, the event lasts until that group has ended.
  public func endEvent() {
    guard open.first?.kind == .byEvent else { return }
    if open.count > 1 { open[0].isOver = true } else { close(to: 0) }
  }

  /// Closes the groups beyond a depth, and the event's group if only that is left and it is over.
  private func close(to depth: Int) {
    guard open.count > depth else { return }
    notify(onCheckpoint)
    while open.count > depth, let group = open.popLast() {
      if open.isEmpty {
        keep(group)
      } else if !group.steps.isEmpty {
        open[open.count - 1].append(.group(StepGroup(name: group.name, steps: group.steps)))
      }
    }
    if open.count == 1, open[0].isOver { close(to: 0) } else { notify(onChange) }
  }
}

// MARK: Undo and redo

extension UndoStack {
  /// Undoes the newest group, or the newest record outside groups.
  ///
  /// What the targets record meanwhile becomes the redo. If a step throws, the steps before it are
  /// done again, and the stack is as it was before. A step whose target has died is skipped.
  ///
  /// - Returns: false if there is nothing to undo.
  /// - Throws: ``UndoError/busy`` during another undo or redo, ``UndoError/groupIsOpen(depth:)``
  ///   while a group is open, ``UndoError/failed(_:_:rollback:)`` if a step throws.
  @discardableResult
  public func undo() throws(UndoError) -> Bool { try perform(.undo) }

  /// Redoes the newest undo.
  ///
  /// - Returns: false if there is nothing to redo.
  /// - Throws: the errors of `undo()`.
  @discardableResult
  public func redo() throws(UndoError) -> Bool { try perform(.redo) }

  private func perform(_ direction: History.Direction) throws(UndoError) -> Bool {
    try checkReady()
    if history.entries(direction).isEmpty { return false }
    notify(onCheckpoint)
    // Entries whose targets have all died are dropped, so that each undo has a visible effect.
    var hasDropped = false
    while let entry = history.takeDead(direction) {
      // The next record joins no entry from before the undo.
      joined = nil
      hasDropped = true
      diagnose(.targetGone(entry.text))
    }
    if hasDropped { notify(onChange) }
    // A handler may have begun a group.
    try checkReady()
    guard let entry = history.take(direction) else { return false }
    try run(entry, direction)
    return true
  }

  /// Refuses to begin during another undo or while a group is open.
  private func checkReady() throws(UndoError) {
    if running != nil { throw .busy }
    endEvent()
    if !open.isEmpty { throw .groupIsOpen(depth: open.count) }
  }

  private func run(_ entry: Entry, _ direction: History.Direction) throws(UndoError) {
    let running = RunningUndo(direction, entry, disabledBefore: disabledCount)
    self.running = running
    joined = nil
    open = [OpenGroup(kind: .performing, name: entry.name)]
    while let step = running.next() {
      do { try perform(step, running) } catch {
        if running.isOneWay { history.forgetSaved() }
        let rollback = rollBack(running)
        end()
        if let entry = running.entry { history.append(entry, direction) }
        if running.isLost || !rollback.isEmpty { history.forgetSaved() }
        trim()
        notify(onChange)
        throw .failed(step.text(), Self.told(error, step), rollback: rollback)
      }
    }
    finish(running)
  }

  private func perform(_ step: Step, _ running: RunningUndo) throws {
    guard let reference = step.target else { return }
    guard let target = reference.object else {
      running.hasSkipped = true
      return diagnose(.targetGone(step.text()))
    }
    let before = running.recorded
    switch step {
    case .call(let call, _): try call.send(to: target)
    case .run(let closure): try closure.body(target)
    case .group: break
    }
    if running.recorded == before { running.isOneWay = true }
  }

  /// Translates an error for users: a method that is not implemented is an unrecognized selector.
  private static func told(_ error: any Error, _ step: Step) -> any Error {
    guard error is NotImplemented, case .call(let call, let target) = step
    else { return error }
    return InvocationError.unrecognizedSelector(
      call.selector, type: SwiftType(target.type), nearest: nil)
  }

  /// Takes the performed steps back, newest first. Returns the errors that this throws. What is
  /// recorded now is dropped.
  private func rollBack(_ running: RunningUndo) -> [any Error] {
    running.remaining = []
    for index in open.indices { running.remaining += open[index].takeSteps() }
    var errors: [any Error] = []
    while let step = running.next() {
      do { try perform(step, running) } catch { errors.append(Self.told(error, step)) }
    }
    return errors
  }

  /// Turns the recorded steps into the redo of an undo, or the undo of a redo.
  private func finish(_ running: RunningUndo) {
    tellLeftOpen(beyond: 1)
    let steps = running.disabledBefore == 0 ? open.flatMap(\.steps) : []
    let name = open[0].name
    end()
    let back = steps.asOne(name: name).map { Entry(step: $0, name: name) }
    history.finish(
      running.direction, back: back, leadsHere: !running.hasSkipped,
      leadsBack: back != nil && !running.isOneWay)
    if running.isLost { history.forgetSaved() }
    trim()
    if running.isOneWay, steps.isEmpty, running.disabledBefore == 0, let entry = running.entry {
      diagnose(.noWayBack(entry.text))
    }
    notify(onChange)
  }

  private func end() {
    let groups = open
    (open, running) = ([], nil)
    withExtendedLifetime(groups) {}
  }
}

// MARK: Removing

extension UndoStack {
  /// Removes all undos and redos. Open groups stay open but become empty.
  ///
  /// The targets do not change, so ``isModified`` does not change either.
  public func removeAll() {
    let old = (history, open, lastTarget, running?.kept)
    // A half-performed undo or an open group leaves a state that was never saved.
    if isBetween { history.forgetSaved() }
    history.removeAll()
    for index in open.indices { _ = open[index].takeSteps() }
    running?.removeAll()
    lastTarget = nil
    joined = nil
    notify(onChange)
    withExtendedLifetime(old) {}
  }

  /// Removes all steps for one object, at any depth.
  ///
  /// An object may call this in its `deinit`, even during an undo.
  ///
  /// - Returns: false if there was nothing to remove.
  /// - Complexity: O(*n*) in the number of steps.
  @discardableResult
  public func removeAll(for target: AnyObject) -> Bool {
    let object = ObjectIdentifier(target)
    let old = (history, open, lastTarget, running?.kept)
    var removed = running?.remove(object) ?? false
    for index in open.indices { removed = open[index].remove(object) || removed }
    // These changes are newer than all undos, and stay.
    if removed { history.forgetSaved() }
    removed = history.remove(object) || removed
    if lastTarget?.identity == object { lastTarget = nil }
    if removed {
      joined = nil
      notify(onChange)
    }
    withExtendedLifetime(old) {}
    return removed
  }
}

// MARK: Saving

extension UndoStack {
  /// Whether the targets differ from their state at the last ``markSaved()``, or at the beginning.
  /// Undo and redo can lead back to that state. During an undo or a redo the targets are modified.
  public var isModified: Bool { isBetween || !history.isSaved }

  /// Whether a change is no entry yet: it is in an open group or in an undo in progress.
  private var isBetween: Bool { running != nil || open.contains { !$0.steps.isEmpty } }

  /// Marks the current state of the targets as saved.
  ///
  /// - Throws: ``UndoError/busy`` during an undo or redo, ``UndoError/groupIsOpen(depth:)`` while a
  ///   group is open.
  public func markSaved() throws(UndoError) {
    try checkReady()
    history.markSaved()
    joined = nil
  }
}
