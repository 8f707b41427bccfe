// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

// Beginning another file, and removing old ones.
extension Journal {
  /// Rotates the file: appends the number of its first record to its name and continues in a new
  /// file. Readers find both. The old file and the header of the new one are on the disk then. Does
  /// nothing if the file has no records.
  ///
  /// - Throws: ``JournalError/closed(path:)``, ``JournalError/forked(path:)`` in a forked child,
  ///   ``JournalError/displaced(path:)`` if the path no longer leads to the file,
  ///   ``JournalError/system(_:path:code:)`` if the disk fails, or if
  ///   ``JournalOptions/rotatedFiles`` demands the removal of a file that cannot be removed.
  public func rotate() throws(JournalError) { try rotate(ifAtLeast: 0) }

  func rotate(ifAtLeast size: Int) throws(JournalError) {
    try check()
    let begun = try state.wait { (state) throws(JournalError) -> Standing?? in
      guard let file = state.file, !state.isClosing else { throw .closed(path: path) }
      // A sync needs this file.
      if state.isBusy { return size > 0 ? .some(nil) : nil }
      // Another thread may have rotated it already.
      guard state.end >= size, state.next > state.first else { return .some(nil) }
      try state.look(for: file, JournalFile.now)
      guard state.next < JournalFormat.numbers else {
        throw .tooLarge(state.next, offset: state.end, at: 8)
      }
      state.isChanging = true
      return Standing(
        file: file, first: state.first, next: state.next, synced: state.synced)
    }
    guard let old = begun else { return }
    do throws(JournalError) { try replace(old) } catch {
      state.announce { $0.isChanging = false }
      throw error
    }
    state.announce { $0.isChanging = false }
    try removeMoreThanWanted()
  }

  /// A file that no thread writes while another one takes its place.
  private struct Standing {
    let file: JournalFile
    let first: UInt64
    let next: UInt64
    let synced: UInt64
  }

  private func replace(_ old: Standing) throws(JournalError) {
    // If the end of the old file were lost, no reader could continue in the new one.
    if old.synced < old.next { try lead(old.file, upTo: old.next) }
    let (new, name) = try JournalFile.begin(for: path, first: old.next, permissionsOf: old.file)
    do throws(JournalError) {
      // There is a file at the path at every moment.
      let aside = JournalFiles.path(of: path, from: old.first)
      if try old.file.isAt(aside) { JournalFile.remove(aside) }
      try JournalFile.name(path, as: aside)
      do throws(JournalError) {
        // The second name reaches the disk before the first one leads to another file.
        try JournalFile.syncFolder(of: path)
        try JournalFile.move(name, to: path)
      } catch {
        JournalFile.remove(aside)
        throw error
      }
    } catch {
      JournalFile.remove(name)
      throw error
    }
    do throws(JournalError) { try JournalFile.syncFolder(of: path) } catch {
      // After a crash, either file may be at the path.
      state.announce { $0.end(after: error) }
      throw error
    }
    state.withLock { $0.replace(new) }
  }

  /// Removes rotated files whose calls all have numbers below `sequence`, the oldest first. The file
  /// that is written stays.
  ///
  /// Nothing waits for readers. A reader that has not reached a removed file gets
  /// ``JournalError/missing(offset:expected:given:)`` there, with both numbers; one that has it open
  /// reads it to its end before.
  ///
  /// - Parameter sequence: the number of the first call that is still needed, such as the one behind
  ///   the last call in a snapshot.
  /// - Returns: the number of files that were removed. Their removal is on the disk.
  /// - Throws: ``JournalError/closed(path:)``, ``JournalError/forked(path:)`` in a forked child,
  ///   ``JournalError/displaced(path:)``, ``JournalError/system(_:path:code:)`` if a file cannot be
  ///   removed. Those before it are removed then.
  @discardableResult
  public func removeRotated(before sequence: UInt64) throws(JournalError) -> Int {
    let (files, first) = try rotated()
    let ends = files.dropFirst().map(\.first) + [first]
    let count = zip(files, ends).prefix { $1 <= sequence }.count
    try remove(files.prefix(count))
    return count
  }

  /// Removes the oldest files if there are more than the options want.
  private func removeMoreThanWanted() throws(JournalError) {
    guard let most = options.rotatedFiles else { return }
    try remove(rotated().files.dropLast(max(0, most)))
  }

  /// The rotated files, and the first number in the file that is written.
  private func rotated() throws(JournalError) -> (files: [JournalFiles.Older], first: UInt64) {
    try check()
    let first = try state.wait { (state) throws(JournalError) -> UInt64? in
      guard let file = state.file, !state.isClosing else { throw .closed(path: path) }
      if state.isChanging { return nil }
      // At another file's path there may be other rotated files, too.
      try state.look(for: file, JournalFile.now)
      return state.first
    }
    return (try JournalFiles.list(path).filter { $0.first < first }, first)
  }

  private func remove(_ files: ArraySlice<JournalFiles.Older>) throws(JournalError) {
    if files.isEmpty { return }
    for file in files {
      try JournalFile.removeSurely(file.path)
      // After a crash, no file may be missing between others.
      try JournalFile.syncFolder(of: path)
    }
  }
}
