// SPDX-License-Identifier: Apache-2.0
// Groups: explicit, nested, and by event.

extension UndoStack {
  /// The limit of nested groups. Recursive functions process the groups, also when an ``UndoStep``
  /// is encoded and decoded.
  static let depthLimit = 100

  /// Begins a group: one undo undoes everything that is recorded until its end. Groups nest up to
  /// 100 deep, the event's group included.
  ///
  /// - Throws: ``UndoError/tooDeep(limit:)`` beyond that; ``UndoError/busy`` if another task awaits
  ///   an undo on this stack.
  public func beginGroup(_ name: String? = nil) throws(UndoError) { _ = try openGroup(name) }

  /// Begins a group, and returns its id. Observers may have opened others inside it.
  private func openGroup(_ name: String?) throws(UndoError) -> Int {
    try checkHere()
    let isFirst = groupsByEvent && open.isEmpty && performance == nil
    guard open.count + (isFirst ? 1 : 0) < Self.depthLimit else {
      throw .tooDeep(limit: Self.depthLimit)
    }
    if isFirst { begin(.byEvent, name: nil) }
    return begin(.byHand, name: name)
  }

  /// Ends the group that was begun last. An empty group leaves no undo.
  ///
  /// - Throws: ``UndoError/noGroupIsOpen`` if no group is open that was begun by
  ///   ``beginGroup(_:)``; ``UndoError/busy`` if another task awaits an undo on this stack.
  public func endGroup() throws(UndoError) {
    try checkHere()
    guard let group = open.last, group.kind == .byHand else { throw .noGroupIsOpen }
    close(group.id)
    closeIfOver()
  }

  /// Makes one undo of everything that is recorded in `body`.
  ///
  /// If `body` throws, the group ends there. With `undoingErrors`, what it recorded is undone
  /// first, completely or not at all, and there is no redo. If a step throws then, or is `async`,
  /// the undone steps are done again, and the group becomes an undo as it does without
  /// `undoingErrors`.
  ///
  /// - Throws: the error of `body`; ``UndoError/busy``, without running `body`, if another task
  ///   awaits an undo on this stack; ``UndoError/tooDeep(limit:)``;
  ///   ``UndoError/failed(_:_:rollback:)`` with the error of `body`, if the group could not be
  ///   undone, and the reason as `rollback`.
  public func group<Result>(
    _ name: String? = nil, undoingErrors: Bool = false, _ body: () throws -> Result
  ) throws -> Result {
    let id = try openGroup(name)
    do {
      let result = try body()
      endGroup(id)
      return result
    } catch {
      guard undoingErrors else {
        endGroup(id)
        throw error
      }
      try takeBack(id, after: error)
      throw error
    }
  }

  /// Ends a group and those inside it, if it is still open.
  private func endGroup(_ id: Int) {
    guard let index = open.lastIndex(where: { $0.id == id }) else { return }
    if index < open.count - 1 { diagnose(.groupLeftOpen(open[open.count - 1].name)) }
    close(id)
    closeIfOver()
  }

  /// Closes the event's group if the event ended while a nested group was open or being undone.
  func closeIfOver() {
    if let event = open.first, open.count == 1, event.isOver { close(event.id) }
  }

  /// Ends the event: one undo undoes everything that was recorded since it began.
  ///
  /// If a group begun by ``beginGroup(_:)`` is open, the event lasts until that group has ended.
  public func endEvent() {
    // The groups of the event wait until the undo of a nested one is over.
    if let performance { return performance.endEvent() }
    guard let event = open.first, event.kind == .byEvent else { return }
    if open.count > 1 { return open[0].isOver = true }
    close(event.id)
  }

  /// Makes one group of each turn of an actor, from the first record until the actor starts its
  /// next job.
  ///
  /// The actor is the caller's, and must own the stack. On the main actor a turn is one of the main
  /// queue, and so of the run loop.
  ///
  /// ```swift
  /// @MainActor func editor() throws -> UndoStack {
  ///   let undo = UndoStack()
  ///   try undo.groupByTurns()
  ///   return undo
  /// }
  /// ```
  ///
  /// - Throws: ``UndoError/notOnActor`` if the caller is on no actor.
  public func groupByTurns(
    isolation: isolated (any Actor)? = #isolation
  ) throws(UndoError) {
    guard isolation != nil else { throw .notOnActor }
    groupsByEvent = true
    onEvent = { [weak self] in
      Task {
        _ = isolation
        self?.endEvent()
      }
    }
  }

  /// Refuses callers outside the awaited undo in progress.
  func checkHere() throws(UndoError) {
    if let performance, performance.isElsewhere { throw .busy }
  }
}
