// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations

// Undo and redo.
extension UndoStack {
  /// Undoes the newest group, or the newest record outside groups.
  ///
  /// What the targets record meanwhile becomes the redo. If a step throws, the steps before it are
  /// done again, and the stack is as it was before. A step whose target has died is skipped.
  ///
  /// - Returns: false if there is nothing to undo.
  /// - Throws: ``UndoError/busy`` during another undo or redo, ``UndoError/groupIsOpen(depth:)``
  ///   while a group is open, ``UndoError/failed(_:_:rollback:)`` if a step throws or is `async`.
  @discardableResult
  public func undo() throws(UndoError) -> Bool { try perform(.undo) }

  /// Redoes the newest undo.
  ///
  /// - Returns: false if there is nothing to redo.
  /// - Throws: the errors of `undo()`.
  @discardableResult
  public func redo() throws(UndoError) -> Bool { try perform(.redo) }

  /// Undoes the last nested group of the open group. If no group begun by ``beginGroup(_:)`` is
  /// open, it undoes as `undo()` does.
  ///
  /// - Returns: false if there is nothing to undo.
  /// - Throws: ``UndoError/busy`` during another undo or redo, ``UndoError/noNestedGroup`` if the
  ///   open group does not end with a nested group, ``UndoError/failed(_:_:rollback:)`` if a step
  ///   throws.
  @discardableResult
  public func undoNestedGroup() throws(UndoError) -> Bool {
    guard let entry = try nextNested() else { return try undo() }
    try run(begin(.undo, entry, false))
    return true
  }

  /// Notifies observers, then removes the last nested group from the open group. Returns nil if no
  /// group is open.
  func nextNested() throws(UndoError) -> Entry? {
    guard case .idle = phase else { throw .busy }
    // The group of an event does not count: the user did not open it.
    if open.allSatisfy({ $0.kind == .byEvent }) { return nil }
    guard endsWithGroup else { throw .noNestedGroup }
    announce(.willUndo)
    guard endsWithGroup, let last = open.indices.last,
      case .group(let group)? = open[last].steps.popLast()
    else { throw .noNestedGroup }
    return Entry(step: .group(group), state: history.newState(), name: group.name)
  }

  private var endsWithGroup: Bool {
    if case .group? = open.last?.steps.last { true } else { false }
  }

  private func perform(_ direction: UndoOperation.Direction) throws(UndoError) -> Bool {
    guard let entry = try next(direction) else { return false }
    try run(begin(direction, entry, false))
    return true
  }

  func run(_ performance: UndoOperation) throws(UndoError) {
    guard let failure = performAll(performance) else { return finish(performance) }
    putBack(performance, failure)
    throw failure
  }

  /// Performs all steps. If one fails, takes the performed ones back.
  private func performAll(_ performance: UndoOperation) -> UndoError? {
    repeat {
      while let step = performance.next() {
        do { try perform(step, performance) } catch {
          return Self.failure(Self.told(error, step), at: step, rollBack(performance))
        }
      }
      closeLeftOpen()
      if isAstray(performance) {
        return Self.failure(nil, at: performance.entry?.step, rollBack(performance))
      }
    } while goOn(performance)
    return nil
  }

  private func perform(_ step: Step, _ performance: UndoOperation) throws {
    guard let target = target(of: step, performance) else { return }
    switch step {
    case .call(let call, _): try call.send(to: target)
    case .run(let closure):
      guard case .once(let body) = closure.body else { throw InvocationError.notAwaited(nil) }
      try body(target)
    case .group: break
    }
  }

  /// Undoes an open group and the groups inside it, and drops it. If that throws, everything is
  /// done again, and the group is closed normally.
  func takeBack(_ id: Int, after error: any Error) throws(UndoError) {
    guard let index = open.lastIndex(where: { $0.id == id }) else { return }
    var group = open[index]
    let whole = StepGroup(name: group.name, steps: open[index...].flatMap(\.steps))
    group.isMixed = group.isMixed || index < open.count - 1
    let extras = open[0].extras
    // The rules of the removed groups are released after the change.
    let groups = open
    defer { withExtendedLifetime(groups) {} }
    open.removeSubrange(index...)
    let before = phase
    let performance = begin(
      .undo,
      Entry(step: .group(whole), state: history.newState(), name: whole.name, extras: extras),
      false)
    let failure = performAll(performance)
    // Steps that were removed meanwhile are not put back.
    let recorded = open
    (phase, open) = (before, performance.outer)
    defer { withExtendedLifetime(recorded) {} }
    changeDisabled(by: performance.disabledInside)
    guard let failure else {
      closeIfOver()
      return notify(.didCloseGroup(depth: open.count + 1))
    }
    if case .failed(_, _, let rollback) = failure, !rollback.isEmpty {
      history.renumberAll()
      performance.parent?.isLost = true
    }
    group.steps = performance.entry?.step.parts ?? []
    open.append(group)
    close(id)
    closeIfOver()
    throw .failed(UndoStep(.group(whole), name: whole.name), error, rollback: [failure])
  }

  /// Takes the performed steps back, newest first. Returns the errors that this throws.
  private func rollBack(_ performance: UndoOperation) -> [any Error] {
    beginRollback(performance)
    var errors: [any Error] = []
    while let step = performance.next() {
      do { try perform(step, performance) } catch { errors.append(Self.told(error, step)) }
    }
    return errors
  }
}

// MARK: Shared by plain and awaited undos

extension UndoStack {
  /// Notifies observers, then removes the next entry from its stack.
  func next(_ direction: UndoOperation.Direction) throws(UndoError) -> Entry? {
    try checkReady()
    dropDead(direction)
    if history.isEmpty(direction) { return nil }
    if !observers.isEmpty {
      announce(direction == .undo ? .willUndo : .willRedo)
      try checkReady()
      dropDead(direction)
    }
    return history.take(direction)
  }

  /// Notifies observers of an undo or redo that is about to begin. They may still record.
  func announce(_ event: Event) {
    phase = .announcing
    update()
    notify(event)
    phase = .idle
    update()
  }

  /// Drops entries whose targets have all died, so that each undo has a visible effect.
  private func dropDead(_ direction: UndoOperation.Direction) {
    while let entry = history.takeDead(direction) {
      update()
      diagnose(.targetGone(UndoStep(entry.step, name: entry.name)))
    }
  }

  /// Refuses to begin during another undo or while a group is open.
  func checkReady() throws(UndoError) {
    guard case .idle = phase else { throw .busy }
    endEvent()
    if !open.isEmpty { throw .groupIsOpen(depth: open.count) }
  }

  func begin(_ direction: UndoOperation.Direction, _ entry: Entry, _ isAwaited: Bool)
    -> UndoOperation
  {
    let performance = UndoOperation(
      direction, entry, outer: open, parent: self.performance, disabledCount: disabledDepth,
      isAwaited: isAwaited)
    coalescing = nil
    openPerforming(entry)
    phase = .performing(performance)
    records.isPlain = false
    return performance
  }

  /// Opens the group that collects what an entry records while it is performed.
  func openPerforming(_ entry: Entry) {
    lastGroup += 1
    open = [
      OpenGroup(kind: .performing, id: lastGroup, name: entry.name, extras: entry.extras)
    ]
  }

  /// The target of a step. Returns nil if it has died, and reports that as a diagnostic.
  func target(of step: Step, _ performance: UndoOperation) -> AnyObject? {
    guard let reference = step.target else { return nil }
    if let object = reference.object {
      performance.hasPerformed = true
      return object
    }
    performance.hasSkipped = true
    diagnose(.targetGone(UndoStep(step)))
    return nil
  }

  /// Translates an error for users: a method that is not implemented is an unrecognized selector.
  static func told(_ error: any Error, _ step: Step) -> any Error {
    guard UnansweredMessages.isLeftOut(error), case .call(let call, let target) = step,
      let selector = call.selector
    else { return error }
    return InvocationError.unrecognizedSelector(
      selector, type: SwiftType(target.type), nearest: nil)
  }

  /// The error of a failed undo, with the errors of its rollback. Without `error`, a `go(to:)`
  /// could not reach its state.
  static func failure(
    _ error: (any Error)?, at step: Step?, _ rollback: [any Error]
  ) -> UndoError {
    if error == nil, rollback.isEmpty { return .unreachable }
    return .failed(
      UndoStep(step ?? .group(StepGroup(name: nil, steps: []))), error ?? UndoError.unreachable,
      rollback: rollback)
  }

  /// Makes the recorded steps those to be performed.
  func beginRollback(_ performance: UndoOperation) {
    performance.isRollingBack = true
    performance.remaining =
      performance.stages.flatMap { $0.recorded?.steps ?? [] } + open.flatMap(\.steps)
    for index in open.indices { open[index].steps = [] }
  }
}
