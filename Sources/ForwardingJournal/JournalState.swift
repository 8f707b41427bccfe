// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

/// The state of a journal: the file that it writes, and how much of it is on the disk.
struct JournalState {
  /// The file; nil once it is closed.
  private(set) var file: JournalFile?
  /// The error that closed the file. The next `close()` throws it and resets it.
  var failure: JournalError?
  /// The end of the records in the file.
  private(set) var end: Int
  /// The sequence number of the file's first record.
  private(set) var first: UInt64
  /// The sequence number of the next record.
  private(set) var next: UInt64
  /// The sequence number of the first record that may not be on the disk.
  var synced: UInt64
  /// The number of syncs.
  var syncs = 0
  /// The path of the file.
  let path: String
  /// Whether a thread syncs the file.
  var isSyncing = false
  /// Whether the file is being replaced or closed. No record is written and no other sync begins
  /// then.
  var isChanging = false
  /// Whether a new sync has to wait.
  var isBusy: Bool { isSyncing || isChanging }
  /// Whether a `close()` waits for the last records. No further record is written then.
  var isClosing = false
  /// The file size at which a failed rotation is retried.
  var budget = 0
  /// When the path was last seen to lead to the file.
  private var seen: Int64 = 0
  /// For how long that is not checked again, in nanoseconds, when a record is appended.
  private static let rest: Int64 = 10_000_000
  /// Whether calls wait for the disk.
  private let isSynced: Bool
  /// The numbers of the messages that the file defines.
  private var definitions: [Definition: UInt16] = [:]

  /// The state after the last record that the scanner has found.
  init(_ file: JournalFile, _ scanner: JournalScanner, _ options: JournalOptions) {
    path = file.path
    self.file = file
    (end, first, next) = (scanner.offset, scanner.header.first, scanner.next)
    isSynced = options.sync != .never
    // If calls wait for the disk, the records of earlier processes were synced when the file was
    // opened.
    synced = isSynced || next == first ? next : 0
    for (number, definition) in scanner.definitions.enumerated() {
      if let definition { definitions[definition] = UInt16(number) }
    }
  }

  /// Releases the file after an error, which `close()` throws.
  mutating func end(after error: JournalError) {
    if file != nil { failure = error }
    file = nil
  }

  /// Releases the lock and the file.
  mutating func letGo() {
    file?.unlock()
    file = nil
  }

  /// Continues in a file without records, which is on the disk.
  mutating func replace(_ file: JournalFile) {
    self.file = file
    (first, end, budget) = (next, JournalFormat.headerSize, 0)
    definitions = [:]
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
    guard definitions.count < JournalFormat.maximumDefinitions else {
      throw .tooManyMessages(limit: JournalFormat.maximumDefinitions)
    }
    let number = UInt16(definitions.count)
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
    return sequence
  }

  @inline(__always)
  private mutating func append(
    _ writer: inout WireWriter, _ kind: RecordKind, _ message: UInt16, at time: Int64
  ) throws(JournalError) -> UInt64 {
    guard let file, !isClosing else { throw .closed(path: path) }
    // A record behind the end of a file that another program truncated would be found by no reader.
    if time &- seen > Self.rest || time < seen { try look(for: file, time) }
    guard next < JournalFormat.numbers else { throw .tooLarge(next, offset: end, at: 8) }
    var header = RecordHeader(kind: kind, message: message, sequence: next, time: time)
    if isSynced { header.unsynced = UInt32(clamping: next - synced) }
    header.fill(in: &writer)
    do { try file.append(writer, at: end) } catch {
      // If a partial record is left, a record after it would be taken for damage, so the journal
      // closes.
      if (try? file.size) != end { end(after: error) }
      throw error
    }
    end += writer.count
    next += 1
    return header.sequence
  }

  /// Checks that the path still leads to the file.
  mutating func look(for file: JournalFile, _ time: Int64) throws(JournalError) {
    guard try file.isAt(path, holding: end) else {
      let error = JournalError.displaced(path: path)
      end(after: error)
      throw error
    }
    seen = time
  }
}
