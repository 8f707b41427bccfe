#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// Waiting for the disk.
extension Journal {
  /// Waits until all that was written is on the disk.
  public func sync() throws(JournalError) {
    try check()
    let last = state.withLock { $0.next }
    try wait(for: last)
  }

  /// Waits until all is on the disk, and lets others write the file. Calls are refused from then on. If the disk had
  /// refused something before, the first who closes the journal gets its error.
  public func close() throws(JournalError) {
    try check()
    let turn = try state.wait { (state) throws(JournalError) -> SyncTurn? in
      // From here on nothing is written, so what is on the disk then is all.
      state.isClosing = true
      if state.isBusy { return nil }
      guard let file = state.file else {
        defer { state.failure = nil }
        if let failure = state.failure { throw failure }
        return .done
      }
      state.isChanging = true
      return .mine(file, upTo: state.next)
    }
    guard case .mine(let file, let end) = turn else { return }
    defer {
      state.announce {
        $0.isChanging = false
        $0.letGo()
        // The first `close()` has its error.
        $0.failure = nil
      }
    }
    try lead(file, upTo: end)
    let size = state.withLock { (state) -> Int in
      state.tellSynced()
      return state.end
    }
    // Where room cannot be cut, it does no harm.
    if file.size > size { try? file.cut(to: size) }
  }

  /// Waits for a synchronization of one's own.
  func syncNow(_ sequence: UInt64) throws(JournalError) {
    let turn = try state.wait { (state) throws(JournalError) -> SyncTurn? in
      // A `close()` meanwhile has waited for this record, too.
      if state.synced > sequence { return .done }
      guard let file = state.file else { throw .closed(path: path) }
      // The system tells one of two who wait at once that it lost something, and the other one nothing.
      if state.isBusy { return nil }
      state.isSyncing = true
      return .mine(file, upTo: sequence + 1)
    }
    if case .mine(let file, let end) = turn { try lead(file, upTo: end) }
  }

  /// Waits until all records below a number are on the disk, by another thread's synchronization or its own.
  func wait(for sequence: UInt64) throws(JournalError) {
    while true {
      let turn = try state.wait { (state) throws(JournalError) -> SyncTurn? in
        if state.synced >= sequence { return .done }
        guard let file = state.file else { throw .closed(path: path) }
        if state.isBusy { return nil }
        state.isSyncing = true
        return .mine(file, upTo: state.next)
      }
      guard case .mine(let file, let end) = turn else { return }
      try lead(file, upTo: end)
    }
  }

  /// The same for a task, which is suspended: the thread of the journal waits.
  nonisolated(nonsending) func waitAwaiting(for sequence: UInt64) async throws(JournalError) {
    try await state.suspend(until: .synced(sequence)) { self.serve() }
  }

  /// Waits for the disk until no task does any more.
  private func serve() {
    while let wanted = nextServed() {
      do throws(JournalError) { try wait(for: wanted) } catch {
        // All whose records are not on the disk are told that there is no file.
        state.announce { _ in }
      }
    }
  }

  /// The number up to which records are to be on the disk; nil if no task waits any more.
  ///
  /// Tasks that were resumed together come back one after the other. A wait that begins with the first of them makes all
  /// others wait for twice as long, so this lets them run as long as more come.
  private func nextServed() -> UInt64? {
    var (count, idle) = (0, 0)
    while idle < 8 {
      let (now, expected) = state.withLock { ($0.suspended.count, $0.resumed) }
      if now >= expected { break }
      idle = now > count ? 0 : idle + 1
      count = now
      sched_yield()
    }
    return state.withLock { $0.nextServed() }
  }

  /// Waits for the disk, while no other thread does.
  func lead(_ file: JournalFile, upTo end: UInt64) throws(JournalError) {
    var failure: JournalError?
    do throws(JournalError) {
      try file.sync()
      // What is on the disk is of no use where no reader finds it.
      if !file.isAt(path) { throw .displaced(path: path) }
    } catch { failure = error }
    try finish(file, upTo: end, failure)
  }

  /// Takes in what a synchronization said: that it went well counts for nothing if the journal has lost the file
  /// meanwhile, as somebody else was told the error then.
  func finish(
    _ file: JournalFile, upTo end: UInt64, _ failure: JournalError?
  ) throws(JournalError) {
    let failure = state.announce { (state) -> JournalError? in
      state.isSyncing = false
      state.syncs += 1
      if let failure {
        state.end(after: failure)
        return failure
      }
      if state.synced >= end { return nil }
      guard state.file === file else { return .closed(path: path) }
      state.synced = end
      return nil
    }
    if let failure { throw failure }
  }

  private enum SyncTurn {
    case done
    case mine(JournalFile, upTo: UInt64)
  }
}
