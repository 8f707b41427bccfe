// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

/// The state of a journal: the file that it writes, and how much of it is on the disk.
struct JournalState {
  /// The file; nil once it is closed.
  private(set) var file: JournalFile?
  /// The error that closed the file. The next `close()` throws it and resets it.
  private(set) var failure: JournalError?
  /// The end of the records in the file.
  private(set) var end: Int
  /// The sequence number of the file's first record.
  private(set) var first: UInt64
  /// The sequence number of the next record.
  private(set) var next: UInt64
  /// The sequence number of the first record that may not be on the disk.
  var synced: UInt64
  /// The number of syncs.
  private(set) var syncs = 0
  /// Whether a thread waits for the disk without the lock. No other sync begins then, and the file
  /// is not replaced.
  var isSyncing = false
  /// When the path was last seen to lead to the file.
  private var seen: Int64 = 0
  /// For how long that is not checked again, in nanoseconds, when a record is appended.
  private static let rest: Int64 = 10_000_000
  private let path: String
  private let options: JournalOptions
  /// The numbers of the messages that the file defines, and the next number.
  private var definitions: [Definition: UInt16] = [:]
  private var defined: Int

  /// The state after the last record that the scanner has found.
  init(_ file: JournalFile, _ scanner: JournalScanner, _ options: JournalOptions) {
    (self.file, path, self.options) = (file, file.path, options)
    (end, first, next) = (scanner.offset, scanner.header.first, scanner.next)
    // If calls wait for the disk, the records of earlier processes were synced when the file was
    // opened.
    synced = options.sync != .never || next == first ? next : 0
    defined = scanner.definitions.count
    for (number, definition) in scanner.definitions.enumerated() {
      if let definition { definitions[definition] = UInt16(number) }
    }
  }

  private func openFile() throws(JournalError) -> JournalFile {
    guard let file else { throw .closed(path: path) }
    return file
  }

  // MARK: Appending

  /// Whether the next record belongs to a new file.
  var isFull: Bool {
    next > first
      && (options.rotation.map { end >= $0 } ?? false
        || defined == JournalFormat.maximumDefinitions)
  }

  /// Appends a call that was encoded after the reserved space for its header. If the file does not
  /// have the definition of the message, that stands in front of the arguments. Returns the sequence
  /// number.
  mutating func append(
    _ writer: inout WireWriter, _ definition: Definition, at time: Int64
  ) throws(JournalError) -> UInt64 {
    if let number = definitions[definition] {
      return try append(&writer, .call, number, at: time)
    }
    let number = UInt16(defined)
    var defining = WireWriter(limit: JournalFormat.maximumRecord)
    do throws(WireError) {
      try RecordHeader.reserve(in: &defining)
      try definition.write(to: &defining)
      try defining.append(Array(writer.bytes.dropFirst(JournalFormat.recordSize)))
    } catch {
      throw .refused(error)
    }
    let sequence = try append(&defining, .defining, number, at: time)
    definitions[definition] = number
    defined += 1
    return sequence
  }

  @inline(__always)
  private mutating func append(
    _ writer: inout WireWriter, _ kind: RecordKind, _ message: UInt16, at time: Int64
  ) throws(JournalError) -> UInt64 {
    let file = try openFile()
    // A record behind the end of a file that another program truncated would be found by no reader.
    if time &- seen > Self.rest || time < seen { try look(time) }
    var header = RecordHeader(kind: kind, message: message, sequence: next, time: time)
    if options.sync != .never { header.unsynced = UInt32(clamping: next - synced) }
    header.fill(in: &writer)
    do { try file.append(writer, at: end) } catch {
      // If a partial record is left, a record after it would be taken for damage, so the journal
      // closes.
      if (try? file.size) != end { letGo(after: error) }
      throw error
    }
    end += writer.count
    next += 1
    return header.sequence
  }

  /// Checks that the path still leads to the file.
  mutating func look(_ time: Int64) throws(JournalError) {
    guard try openFile().isAt(path, holding: end) else {
      let error = JournalError.displaced(path: path)
      letGo(after: error)
      throw error
    }
    seen = time
  }

  // MARK: Waiting for the disk

  /// Begins a sync, for which the caller waits without the lock.
  mutating func beginSync() throws(JournalError) -> JournalSync {
    let sync = JournalSync(file: try openFile(), size: end, next: next)
    isSyncing = true
    return sync
  }

  mutating func end(_ sync: JournalSync, _ result: Result<Void, JournalError>) {
    isSyncing = false
    syncs += 1
    switch result {
    case .success: synced = max(synced, sync.next)
    case .failure(let error): letGo(after: error)
    }
  }

  /// Waits for the disk under the lock, so that no record is written meanwhile.
  private mutating func sync() throws(JournalError) {
    if synced >= next { return }
    let sync = try beginSync()
    let result = Result { () throws(JournalError) in try sync.file.sync(holding: sync.size) }
    end(sync, result)
    try result.get()
  }

  // MARK: Changing the file

  mutating func close() throws(JournalError) {
    // Only the first `close()` throws the error.
    defer { failure = nil }
    if file == nil, let failure { throw failure }
    if file != nil { try sync() }
    letGo()
  }

  /// Releases the file and its lock.
  private mutating func letGo(after error: JournalError? = nil) {
    if file != nil { failure = error }
    file?.unlock()
    file = nil
  }

  /// Continues in a new file, and removes the oldest rotated files if the options want that.
  mutating func rotate() throws(JournalError) {
    let old = try openFile()
    guard next > first else { return }
    try look(JournalFile.now)
    // Readers refuse a file with such a number.
    guard next < JournalFormat.numbers else { throw .notAJournal(path: path) }
    // If the end of the old file were lost, no reader could continue in the new one.
    try sync()
    let (new, name) = try JournalFile.begin(for: path, first: next)
    defer { try? JournalFile.remove(name) }
    // There is a file at the path at every moment. A rotation that failed has left a second name.
    let aside = JournalFiles.path(of: path, from: first)
    if try old.isAt(aside) { try JournalFile.remove(aside) }
    try JournalFile.name(path, as: aside)
    // The second name reaches the disk before the first one leads to another file.
    try JournalFile.syncFolder(of: path)
    try JournalFile.move(name, to: path)
    do throws(JournalError) { try JournalFile.syncFolder(of: path) } catch {
      // After a crash, either file may be at the path.
      letGo(after: error)
      throw error
    }
    (file, first, end) = (new, next, JournalFormat.headerSize)
    (definitions, defined) = ([:], 0)
    if let most = options.rotatedFiles {
      let files = try JournalFiles.list(path).filter { $0.first < next }
      try JournalFiles.remove(files.dropLast(max(0, most)))
    }
  }
}

/// A wait for the disk.
struct JournalSync {
  let file: JournalFile
  /// The size that the file has at least.
  let size: Int
  /// The number of the first record that is not covered.
  let next: UInt64
}
