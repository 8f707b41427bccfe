// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

extension Journal {
  /// Rotates the file: appends the number of its first record to its name and continues in a new
  /// file. Readers find both. The old file and the header of the new one are on the disk then. Does
  /// nothing if the file has no records.
  ///
  /// - Throws: ``JournalError/closed(path:)``, ``JournalError/inUse(path:)`` during a compaction,
  ///   ``JournalError/forked(path:)`` in a forked child, ``JournalError/displaced(path:)`` if the
  ///   path no longer leads to the file, ``JournalError/system(_:path:code:)`` if the disk fails.
  public func rotate() throws(JournalError) { try rotate(ifAtLeast: 0) }

  func rotate(ifAtLeast size: Int) throws(JournalError) {
    try check()
    let begun = try state.wait { (state) throws(JournalError) -> Standing?? in
      guard let file = state.file, !state.isClosing else { throw .closed(path: path) }
      // A sync and a compaction need this file.
      if state.isCompacting, size == 0 { throw .inUse(path: path) }
      if state.isBusy || state.isCompacting { return size > 0 ? .some(nil) : nil }
      // Another thread may have rotated it already.
      guard state.end >= size, state.next > state.first else { return .some(nil) }
      try state.lookNow(for: file, at: path, JournalFile.now)
      guard state.next < JournalFormat.numbers else {
        throw .tooLarge(state.next, offset: state.end, at: 8)
      }
      state.isChanging = true
      return Standing(file, state)
    }
    guard let old = begun else { return }
    defer { state.announce { $0.isChanging = false } }
    // If the end of the old file were lost, no reader could continue in the new one.
    if old.isUnsynced { try lead(old.file, upTo: old.next) }
    let folder = try JournalFolder(of: path)
    let (new, name) = try UnfinishedFile.rotating.begin(of: path)
    defer { if (try? new.isAt(path)) == false { JournalFile.remove(name) } }
    new.adoptPermissions(of: old.file)
    try JournalState.begin(
      new,
      JournalHeader(first: old.next, time: JournalFile.now, tellsUnsynced: options.sync != .never))
    try new.sync()
    trim(old)
    try JournalFiles.removeSecondName(of: old.file, from: old.first, of: path)
    // There is a file at the path at every moment.
    let aside = JournalFiles.path(of: path, from: old.first)
    try JournalFile.name(path, as: aside)
    // The second name reaches the disk before the first one leads to another file.
    do throws(JournalError) { try folder.sync() } catch {
      JournalFile.remove(aside)
      throw error
    }
    try new.move(to: path)
    try sync(folder)
    state.withLock {
      $0.replace(
        new, first: old.next, end: JournalFormat.headerSize, definitions: [], interface)
    }
  }

  /// A file that no thread writes while another one takes its place.
  private struct Standing {
    let file: JournalFile
    let first: UInt64
    let next: UInt64
    let end: Int
    let isUnsynced: Bool

    init(_ file: JournalFile, _ state: JournalState) {
      (self.file, first, next, end) = (file, state.first, state.next, state.end)
      isUnsynced = state.synced < state.next
    }
  }

  /// Cuts the preallocated zeros behind the records. A failure is harmless.
  private func trim(_ old: Standing) {
    guard let size = try? old.file.size, size > old.end, (try? old.file.cut(to: old.end)) != nil
    else { return }
    state.withLock { $0.forgetRoom() }
  }

  /// Waits until the name of the replacing file is on the disk.
  private func sync(_ folder: JournalFolder) throws(JournalError) {
    do throws(JournalError) { try folder.sync() } catch {
      // After a crash, either file may be at the path.
      state.announce { $0.end(after: error) }
      throw error
    }
  }

  /// Removes the calls for which `keep` returns false from the current file. The other calls retain
  /// their numbers and times. Rotated files do not change.
  ///
  /// Calls that are recorded meanwhile are retained. The new file replaces the old one atomically,
  /// once it is on the disk.
  ///
  /// - Returns: the number of removed calls.
  /// - Throws: the error of `keep`; ``JournalError/inUse(path:)`` during another compaction;
  ///   ``JournalError/damaged(offset:resumes:)`` if not every record can be read;
  ///   ``JournalError/closed(path:)``; ``JournalError/forked(path:)``; other errors of the journal.
  /// - Complexity: O(*n*) in the size of the file.
  @discardableResult
  public func compact(keeping keep: (JournalRecord) throws -> Bool) throws -> Int {
    try check()
    try state.wait { (state) throws(JournalError) -> Void? in
      if state.isClosed { throw .closed(path: path) }
      // This may be a call from `keep`, on the thread that compacts: to wait would be a deadlock.
      if state.isCompacting { throw .inUse(path: path) }
      // A rotation is about to put another file at the path.
      if state.isChanging { return nil }
      state.isCompacting = true
      return ()
    }
    defer { state.announce { $0.isCompacting = false } }
    let file = try JournalFile(path, for: .reading)
    let scanner = try JournalScanner(JournalWindow(file), path: path)
    let folder = try JournalFolder(of: path)
    let (new, name) = try UnfinishedFile.compacting.begin(of: path)
    defer { if (try? new.isAt(path)) == false { JournalFile.remove(name) } }
    new.adoptPermissions(of: file)
    let copy = try JournalCopy(
      scanner.header, to: new, tellsUnsynced: options.sync != .never)
    // Most records are copied while other threads write, the rest while they wait.
    let end = state.withLock { $0.end }
    while scanner.offset < end, let frame = try scanner.nextCall() {
      if try keep(JournalRecord(frame, in: scanner)) {
        try copy.append(frame, of: scanner)
      } else {
        copy.leftOut += 1
      }
    }
    try copy.flush()
    try new.sync()
    let old = try state.wait { (state) throws(JournalError) -> Standing? in
      guard let file = state.file else { throw .closed(path: path) }
      if state.isBusy { return nil }
      try state.lookNow(for: file, at: path, JournalFile.now)
      state.isChanging = true
      return Standing(file, state)
    }
    defer { state.announce { $0.isChanging = false } }
    while let frame = try scanner.nextCall() { try copy.append(frame, of: scanner) }
    // Unreadable records must not be dropped: the old file stays, so that readers report them.
    guard scanner.offset == old.end, scanner.next == old.next else {
      throw JournalError.damaged(offset: scanner.offset, resumes: nil)
    }
    try copy.finish(next: old.next)
    try new.sync()
    try JournalFiles.removeSecondName(of: old.file, from: old.first, of: path)
    try new.move(to: path)
    try sync(folder)
    state.withLock {
      $0.synced = old.next
      $0.replace(
        new, first: old.first, end: copy.end, definitions: copy.definitions, interface)
    }
    return copy.leftOut
  }
}

/// A file that records of other files are copied to.
final class JournalCopy {
  private let file: JournalFile
  private(set) var end = JournalFormat.headerSize
  private(set) var definitions: [Definition] = []
  private var next: UInt64
  private var bytes: [UInt8] = []
  var leftOut = 0

  /// Begins the file. Its header allows gaps in the sequence numbers.
  init(
    _ header: JournalHeader, to file: JournalFile, tellsUnsynced: Bool = false
  ) throws(JournalError) {
    self.file = file
    next = header.first
    var header = header
    header.isCompacted = true
    header.tellsUnsynced = tellsUnsynced
    try JournalState.begin(file, header)
  }

  /// Copies a call.
  func append(_ frame: JournalFrame, of scanner: JournalScanner) throws(JournalError) {
    let contents = try scanner.contents(of: frame) { (reader) throws(WireError) in
      try reader.bytes(reader.left)
    }
    try append(frame.header, scanner.definitions[Int(frame.header.message)], contents)
  }

  /// Appends a call, preceded by the definition of its message if the file does not have it.
  func append(
    _ header: RecordHeader, _ definition: Definition, _ contents: [UInt8]
  ) throws(JournalError) {
    var header = header
    // The whole copy is synced before other records are appended, so none before this one is
    // unsynced.
    header.flags = 0
    if let known = definitions.firstIndex(of: definition) {
      header.message = UInt16(known)
    } else {
      guard definitions.count < JournalFormat.maximumDefinitions else {
        throw .tooManyMessages(limit: JournalFormat.maximumDefinitions)
      }
      header.message = UInt16(definitions.count)
      definitions.append(definition)
      let defining = RecordHeader(
        kind: .definition, message: header.message, sequence: next, time: header.time)
      try write(defining) { (writer) throws(WireError) in try definition.write(to: &writer) }
    }
    try write(header) { (writer) throws(WireError) in try writer.append(contents) }
    next = header.sequence + 1
  }

  private func write(
    _ header: RecordHeader, _ contents: (inout WireWriter) throws(WireError) -> Void
  ) throws(JournalError) {
    var writer = WireWriter(limit: JournalFormat.maximumRecord)
    do throws(WireError) {
      try RecordHeader.reserve(in: &writer)
      try contents(&writer)
    } catch {
      throw .refused(error)
    }
    header.fill(in: &writer, at: 0)
    bytes += writer.bytes
    if bytes.count > 1 << 18 { try flush() }
  }

  /// Writes the copied records to the file.
  func flush() throws(JournalError) {
    var writer = WireWriter(limit: .max)
    do throws(WireError) { try writer.append(bytes) } catch { throw .refused(error) }
    try file.append(writer, at: end)
    end += bytes.count
    bytes.removeAll(keepingCapacity: true)
  }

  /// Sets the sequence number of the next record by a mark, unless the last record implies it.
  func finish(next wanted: UInt64) throws(JournalError) {
    if next < wanted {
      try write(RecordHeader(kind: .mark, sequence: wanted - 1, time: JournalFile.now)) { _ in }
    }
    try flush()
  }
}
