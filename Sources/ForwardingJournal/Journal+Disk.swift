// Waiting for the disk.
extension Journal {
  /// Waits for a synchronization of one's own.
  func syncNow(_ sequence: UInt64) throws(JournalError) {
    try state.withLock { (state) throws(JournalError) in
      // Who closed the journal meanwhile has waited for this record, too.
      if state.synced > sequence { return }
      guard state.file != nil else { throw .closed(path: path) }
      try state.sync()
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
      state.announce { state in
        state.isSyncing = false
        state.syncs += 1
        if failure == nil {
          state.synced = max(state.synced, end)
        } else if let failure {
          state.end(after: failure)
        }
      }
      if let failure { throw failure }
    }
  }

  private enum SyncTurn {
    case done
    case mine(JournalFile, upTo: UInt64)
  }
}
