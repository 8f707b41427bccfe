// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingWire

// Waiting for the disk.
extension Journal {
  /// Waits until all records are on the disk.
  ///
  /// - Throws: ``JournalError/closed(path:)`` if the journal was closed,
  ///   ``JournalError/forked(path:)`` in a forked child, ``JournalError/displaced(path:)`` if the
  ///   path no longer leads to the file, ``JournalError/system(_:path:code:)`` if the disk fails.
  ///   The last two close the journal.
  public func sync() throws(JournalError) {
    try check()
    let last = state.withLock { $0.next }
    try wait(for: last)
  }

  /// Waits until all records are on the disk, closes the journal, and releases its lock on the
  /// file. Calls are refused from then on. Closing a closed journal does nothing.
  ///
  /// - Throws: the error of the disk, or ``JournalError/displaced(path:)``. If such an error had
  ///   closed the journal before, the first `close()` throws it. ``JournalError/forked(path:)`` in
  ///   a forked child.
  public func close() throws(JournalError) {
    try check()
    let turn = try state.wait { (state) throws(JournalError) -> SyncTurn? in
      // Nothing is written from here on, so this sync covers all records.
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
        // Only the first `close()` throws the error.
        $0.failure = nil
      }
    }
    try lead(file, upTo: end)
  }

  /// Waits until all records below a sequence number are on the disk, through another thread's sync
  /// or its own.
  func wait(for sequence: UInt64) throws(JournalError) {
    while true {
      let turn = try state.wait { (state) throws(JournalError) -> SyncTurn? in
        if state.synced >= sequence { return .done }
        guard let file = state.file else { throw state.failure ?? .closed(path: path) }
        if state.isBusy { return nil }
        state.isSyncing = true
        return .mine(file, upTo: state.next)
      }
      guard case .mine(let file, let end) = turn else { return }
      try lead(file, upTo: end)
    }
  }

  /// Suspends a task while a thread of the journal calls `body`. Swift's pool has few threads, and
  /// all of them could block otherwise.
  ///
  /// Bodies are called one after the other. So the first one that waits for the disk waits for all
  /// records that were written by then, and the bodies behind it return at once.
  nonisolated(nonsending) func perform(
    _ body: @escaping @Sendable () throws(JournalError) -> Void
  ) async throws(JournalError) {
    try await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(returning: Result { () throws(JournalError) in try body() })
      }
    }.get()
  }

  /// Syncs the file. Only one thread at a time does so.
  func lead(_ file: JournalFile, upTo end: UInt64) throws(JournalError) {
    var failure: JournalError?
    let size = state.withLock { $0.end }
    do throws(JournalError) {
      try file.sync()
      // A synced record is useless if no reader finds its file.
      if try !file.isAt(path, holding: size) { throw .displaced(path: path) }
    } catch { failure = error }
    try finish(file, upTo: end, failure)
  }

  /// Applies the result of a sync. A success counts for nothing if the journal has lost its file
  /// meanwhile, because the system reported the error to another thread then.
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
