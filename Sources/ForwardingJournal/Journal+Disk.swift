// Waiting for the disk.
extension Journal {
  /// Waits for a synchronization of one's own.
  func syncNow(_ sequence: UInt64) throws(JournalError) {
    try state.wait { (state) throws(JournalError) -> Void? in
      // Who closed the journal meanwhile has waited for this record, too.
      if state.synced > sequence { return () }
      guard state.file != nil else { throw .closed(path: path) }
      // The system tells one of two who wait at once that it lost something, and the other one nothing.
      if state.isSyncing { return nil }
      return try state.sync()
    }
  }

  /// Waits until all records below a number are on the disk: somebody's synchronization, or this one's.
  func wait(for sequence: UInt64) throws(JournalError) {
    while true {
      let turn = try state.wait { (state) throws(JournalError) -> SyncTurn? in
        if state.synced >= sequence { return .done }
        guard let file = state.file else { throw .closed(path: path) }
        if state.isSyncing { return nil }
        state.isSyncing = true
        return .mine(file, upTo: state.next)
      }
      guard case .mine(let file, let end) = turn else { return }
      var failure: JournalError?
      do throws(JournalError) { try file.sync() } catch { failure = error }
      try finish(file, upTo: end, failure)
    }
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
