import Forwarding
import Invocations

// Undo and redo.
extension UndoStack {
  /// Undoes what was recorded last: the newest group, or the newest record outside of groups. False if there is nothing.
  ///
  /// What the targets record meanwhile is the redo. If a step throws, what was undone before it is done again, and the
  /// stack is as it was. A step whose target has died is left out.
  @discardableResult
  public func undo() throws(UndoError) -> Bool { try perform(.undo) }

  /// Does again what was undone last. False if there is nothing.
  @discardableResult
  public func redo() throws(UndoError) -> Bool { try perform(.redo) }

  /// Undoes the group that was ended last inside of the one that is open. Where none is open, it undoes.
  @discardableResult
  public func undoNestedGroup() throws(UndoError) -> Bool {
    guard let entry = try nextNested() else { return try undo() }
    try run(begin(.undo, entry, false))
    return true
  }

  /// Takes the group that was ended last out of the open one, once observers have been told; nil where none is open.
  func nextNested() throws(UndoError) -> Entry? {
    guard case .idle = phase else { throw .busy }
    // An event that is not over is no group of theirs.
    if open.allSatisfy({ $0.kind == .byEvent }) { return nil }
    guard endsWithGroup else { throw .noNestedGroup }
    announce(.willUndo)
    guard endsWithGroup, let last = open.indices.last,
      case .group(let group)? = open[last].steps.popLast()
    else { throw .noNestedGroup }
    return Entry(step: .group(group), state: newState(), name: group.name)
  }

  private var endsWithGroup: Bool {
    if case .group? = open.last?.steps.last { true } else { false }
  }

  private func perform(_ direction: Performance.Direction) throws(UndoError) -> Bool {
    guard let entry = try next(direction) else { return false }
    try run(begin(direction, entry, false))
    return true
  }

  func run(_ performance: Performance) throws(UndoError) {
    guard let failure = performAll(performance) else { return finish(performance) }
    putBack(performance, failure)
    throw failure
  }

  /// Performs all steps; if that fails, takes back what was done.
  private func performAll(_ performance: Performance) -> UndoError? {
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

  private func perform(_ step: Step, _ performance: Performance) throws {
    guard let target = target(of: step, performance) else { return }
    switch step {
    case .call(let call, _): try call.send(to: target)
    case .run(let closure):
      guard case .once(let body) = closure.body else { throw InvocationError.notAwaited(nil) }
      try body(target)
    case .group: break
    }
  }

  /// Undoes a group that is open, with those inside of it, and forgets it. If that throws, all is done again, and the
  /// group is closed as others are.
  func takeBack(_ id: Int, after error: any Error) throws(UndoError) {
    guard let index = open.lastIndex(where: { $0.id == id }) else { return }
    var group = open[index]
    let whole = StepGroup(name: group.name, steps: open[index...].flatMap(\.steps))
    group.isMixed = group.isMixed || index < open.count - 1
    let extras = open[0].extras
    open.removeSubrange(index...)
    let before = phase
    let performance = begin(
      .undo, Entry(step: .group(whole), state: baseState, name: whole.name, extras: extras), false)
    let failure = performAll(performance)
    // What was forgotten meanwhile is forgotten there, too.
    let recorded = open
    (phase, open) = (before, performance.outer)
    defer { withExtendedLifetime(recorded) {} }
    changeDisabled(by: performance.disabledInside)
    guard let failure else {
      closeIfOver()
      return notify(.didCloseGroup(depth: open.count + 1))
    }
    if case .failed(_, _, let rollback) = failure, !rollback.isEmpty {
      renumberAll()
      performance.parent?.isLost = true
    }
    group.steps = performance.entry?.step.parts ?? []
    open.append(group)
    close(id)
    closeIfOver()
    throw .failed(UndoStep(.group(whole), name: whole.name), error, rollback: [failure])
  }

  /// Takes back what was done, newest first; returns what that throws.
  private func rollBack(_ performance: Performance) -> [any Error] {
    beginRollback(performance)
    var errors: [any Error] = []
    while let step = performance.next() {
      do { try perform(step, performance) } catch { errors.append(Self.told(error, step)) }
    }
    return errors
  }
}

// MARK: What is the same whether it is awaited or not

extension UndoStack {
  /// Takes the next entry off its stack, once observers have been told.
  func next(_ direction: Performance.Direction) throws(UndoError) -> Entry? {
    try checkReady()
    dropDead(direction)
    if direction == .undo ? done.isEmpty : undone.isEmpty { return nil }
    if !observers.isEmpty {
      announce(direction == .undo ? .willUndo : .willRedo)
      try checkReady()
      dropDead(direction)
    }
    return direction == .undo ? records.popLast() : undone.popLast()
  }

  /// Tells observers, who may still record.
  func announce(_ event: Event) {
    phase = .announcing
    update()
    notify(event)
    phase = .idle
    update()
  }

  /// Drops entries of which no target is left, so that an undo is one that is seen.
  private func dropDead(_ direction: Performance.Direction) {
    while let entry = direction == .undo ? done.last : undone.last, !isAlive(entry.step) {
      // Nothing changes, so the state stays; what is behind it was never without what this did, if that counts.
      if direction == .undo {
        _ = records.popLast()
        if !entry.isDiscardable { renumberDone(below: entry.state) }
      } else {
        _ = undone.popLast()
        if !entry.isDiscardable { renumberRedo() }
      }
      update()
      diagnose(.targetGone(UndoStep(entry.step, name: entry.name)))
    }
  }

  /// Refuses to begin inside of another undo or an open group.
  func checkReady() throws(UndoError) {
    guard case .idle = phase else { throw .busy }
    endEvent()
    if !open.isEmpty { throw .groupIsOpen(depth: open.count) }
  }

  private func isAlive(_ step: Step) -> Bool {
    guard case .group(let group) = step else { return step.target?.object != nil }
    return group.steps.contains { isAlive($0) }
  }

  func begin(_ direction: Performance.Direction, _ entry: Entry, _ isAwaited: Bool) -> Performance {
    let performance = Performance(
      direction, entry, outer: open, parent: self.performance, disabledCount: disabledDepth,
      isAwaited: isAwaited)
    coalescing = nil
    openPerforming(entry)
    phase = .performing(performance)
    records.isPlain = false
    return performance
  }

  /// Opens the group of what an entry records while it is performed.
  func openPerforming(_ entry: Entry) {
    lastGroup += 1
    open = [
      OpenGroup(kind: .performing, id: lastGroup, name: entry.name, extras: entry.extras)
    ]
  }

  /// The object that a step is for; nil if that has died, which is told.
  func target(of step: Step, _ performance: Performance) -> AnyObject? {
    guard let reference = step.target else { return nil }
    if let object = reference.object {
      performance.hasPerformed = true
      return object
    }
    performance.hasSkipped = true
    diagnose(.targetGone(UndoStep(step)))
    return nil
  }

  /// An error as users know it.
  static func told(_ error: any Error, _ step: Step) -> any Error {
    guard error is NotImplemented, case .call(let call, let target) = step,
      let selector = call.selector
    else { return error }
    return InvocationError.unrecognizedSelector(
      selector, type: SwiftType(target.type), nearest: nil)
  }

  /// Why an undo failed, and what the way back threw; without an error it went astray.
  static func failure(
    _ error: (any Error)?, at step: Step?, _ rollback: [any Error]
  ) -> UndoError {
    if error == nil, rollback.isEmpty { return .unreachable }
    return .failed(
      UndoStep(step ?? .group(StepGroup(name: nil, steps: []))), error ?? UndoError.unreachable,
      rollback: rollback)
  }

  /// Makes what was recorded the steps that are to be performed.
  func beginRollback(_ performance: Performance) {
    performance.isRollingBack = true
    performance.remaining =
      performance.stages.flatMap { $0.recorded?.steps ?? [] } + open.flatMap(\.steps)
    for index in open.indices { open[index].steps = [] }
  }
}
