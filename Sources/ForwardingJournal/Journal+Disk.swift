// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

// Waiting for the disk, and replacing files.
extension Journal {
  /// Waits until all records are on the disk. If the disk fails, or the path no longer leads to the
  /// file, the journal is closed.
  public func sync() throws(JournalError) {
    try check()
    let last = state.read { $0.next }
    try wait(for: last)
  }

  /// Waits until all records are on the disk, closes the journal, and releases its lock on the
  /// file. Calls are refused from then on. Closing a closed journal does nothing.
  ///
  /// - Throws: ``JournalError`` if the disk fails. If such an error had closed the journal before,
  ///   the first `close()` throws it.
  public func close() throws(JournalError) {
    try change { (state) throws(JournalError) in try state.close() }
  }

  /// Rotates the file: appends the number of its first record to its name and continues in a new
  /// file. Readers find both. The old file and the header of the new one are on the disk then. Does
  /// nothing if the file has no records.
  ///
  /// - Throws: ``JournalError`` if the journal is closed, if the disk fails, or if
  ///   ``JournalOptions/rotatedFiles`` demands the removal of a file that cannot be removed.
  public func rotate() throws(JournalError) {
    try change { (state) throws(JournalError) in try state.rotate() }
  }

  /// Removes rotated files whose calls all have numbers below `sequence`, the oldest first. The file
  /// that is written stays.
  ///
  /// Nothing waits for readers. A reader that has not reached a removed file gets
  /// ``JournalError/missing(offset:expected:given:)`` there; one that has it open reads it to its
  /// end before.
  ///
  /// - Parameter sequence: the number of the first call that is still needed, such as the one behind
  ///   the last call in a snapshot.
  /// - Returns: the number of files that were removed. Their removal is on the disk.
  /// - Throws: ``JournalError``, also if a file cannot be removed. Those before it are removed then.
  @discardableResult
  public func removeRotated(before sequence: UInt64) throws(JournalError) -> Int {
    try check()
    let first = try state.withLockInPlace { (state) throws(JournalError) in
      // At another file's path there may be other rotated files, too.
      try state.look(JournalFile.now)
      return state.first
    }
    let files = try JournalFiles.list(path).filter { $0.first < first }
    let ends = files.dropFirst().map(\.first) + [first]
    let count = zip(files, ends).prefix { $1 <= sequence }.count
    try JournalFiles.remove(files.prefix(count))
    return count
  }

  /// Changes the file when no thread waits for the disk, which needs it.
  private func change(
    _ body: (inout JournalState) throws(JournalError) -> Void
  ) throws(JournalError) {
    try check()
    try state.wait(until: syncEnded) { (state) throws(JournalError) -> Waiting<Void> in
      if state.isSyncing { return .until(.max) }
      return .done(try body(&state))
    }
  }

  /// Waits until all records below a sequence number are on the disk, through another thread's sync
  /// or its own.
  func wait(for sequence: UInt64) throws(JournalError) {
    while let sync = try nextSync(for: sequence) {
      let result = Result { () throws(JournalError) in try sync.file.sync(holding: sync.size) }
      announce { $0.end(sync, result) }
      try result.get()
    }
  }

  /// Changes the state, and wakes the threads that wait for the end of a sync.
  func announce(_ change: (inout JournalState) -> Void) {
    state.withLockInPlace { state in
      change(&state)
      syncEnded.announce()
    }
  }

  /// The sync that this thread has to wait for; nil if the records are on the disk.
  private func nextSync(for sequence: UInt64) throws(JournalError) -> JournalSync? {
    try state.wait(until: syncEnded) { (state) throws(JournalError) -> Waiting<JournalSync?> in
      if state.synced >= sequence { return .done(nil) }
      // Another thread's sync may have failed.
      if state.file == nil, let failure = state.failure { throw failure }
      if state.isSyncing { return .until(.max) }
      return .done(try state.beginSync())
    }
  }
}
