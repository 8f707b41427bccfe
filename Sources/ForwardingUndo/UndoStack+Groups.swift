// Groups: by hand, inside of each other, and by event.

extension UndoStack {
  /// How many groups are open at most: what is made of them is looked at by functions that call themselves, also where a
  /// ``UndoStep`` is written and read.
  static let depthLimit = 100

  /// Begins a group: what is recorded until its end is undone at once. Groups may be inside of each other, 100 deep, the
  /// group of the event among them.
  public func beginGroup(_ name: String? = nil) throws(UndoError) {
    try checkHere()
    let isFirst = groupsByEvent && open.isEmpty && performance == nil
    guard open.count + (isFirst ? 1 : 0) < Self.depthLimit else {
      throw .tooDeep(limit: Self.depthLimit)
    }
    if isFirst { begin(.byEvent, name: nil) }
    begin(.byHand, name: name)
  }

  /// Ends the group that was begun last. One that has nothing in it leaves nothing.
  public func endGroup() throws(UndoError) {
    try checkHere()
    guard let group = open.last, group.kind == .byHand else { throw .noGroupIsOpen }
    close(group.id)
    closeIfOver()
  }

  /// Undoes at once what is recorded in `body`.
  ///
  /// While a step of an undo is awaited, a group of others is ``UndoError/busy``, and `body` does not run.
  /// If `body` throws, the group ends there; with `undoingErrors`, what it recorded is undone first, all or nothing, and
  /// leaves no redo. If a step throws then, or is `async`, what was undone is done again, and the group is an undo as
  /// without that: `UndoError.failed` has the error of `body`, and why the group could not be undone as the `rollback`.
  public func group<Result>(
    _ name: String? = nil, undoingErrors: Bool = false, _ body: () throws -> Result
  ) throws -> Result {
    try beginGroup(name)
    let id = lastBegun
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

  private var lastBegun: Int { open.last?.id ?? 0 }

  /// Ends a group, and those inside of it, if it is still open.
  private func endGroup(_ id: Int) {
    guard let index = open.lastIndex(where: { $0.id == id }) else { return }
    if index < open.count - 1 { diagnose(.groupLeftOpen(open[open.count - 1].name)) }
    close(id)
    closeIfOver()
  }

  /// Closes the group of an event that has ended while others were open inside of it, or while one was undone.
  func closeIfOver() {
    if let event = open.first, open.count == 1, event.isOver { close(event.id) }
  }

  /// Ends the event: what was recorded since it began is undone at once.
  ///
  /// If a group is open that was begun by hand, the event lasts until that has ended.
  public func endEvent() {
    // Its groups wait for the undo of one inside.
    if let performance { return performance.endEvent() }
    guard let event = open.first, event.kind == .byEvent else { return }
    if open.count > 1 { return open[0].isOver = true }
    close(event.id)
  }

  /// Makes one group of each turn of an actor: from its first record to where the actor goes on to the next job.
  ///
  /// On the main actor that is a turn of the main queue, and so of the run loop. The actor is that of the caller, to
  /// whom the stack belongs.
  ///
  /// ```swift
  /// @MainActor func editor() throws -> UndoStack {
  ///   let undo = UndoStack()
  ///   try undo.groupByTurns()
  ///   return undo
  /// }
  /// ```
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

  /// Refuses what comes from elsewhere while a step is awaited.
  func checkHere() throws(UndoError) {
    if let performance, performance.isElsewhere { throw .busy }
  }
}
