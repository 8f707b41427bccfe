// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

/// The state of a journal: the file that it writes, and its waiting tasks.
struct JournalState {
  /// The file; nil once it is closed.
  private(set) var file: JournalFile?
  /// The error that closed the file. The next `close()` throws it and resets it.
  var failure: JournalError?
  /// The end of the records in the file.
  var end: Int
  /// The sequence number of the file's first record.
  private(set) var first: UInt64
  /// The sequence number of the next record.
  var next: UInt64
  /// The sequence number of the first record that may not be on the disk.
  var synced: UInt64
  /// The number of syncs.
  var syncs = 0
  /// The path of the file.
  let path: String
  /// The suspended tasks in the order of their arrival, and whether the journal's thread syncs for
  /// them.
  var suspended: [JournalWaiter] = []
  var isServed = false
  /// The number of tasks that were last resumed together.
  var resumed = 0
  /// Whether a thread syncs the file.
  var isSyncing = false
  /// Whether a compaction is in progress.
  var isCompacting = false
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
  /// The options, which decide whether calls wait for the disk.
  private let options: JournalOptions
  /// The preallocated zeros behind the records.
  private var room: JournalRoom
  /// Whether records count the unsynced records before them, and the encoded count of the last
  /// record.
  private var (tellsUnsynced, told) = (false, UInt8(0))
  /// The messages that the file defines, and their numbers by the index of the message in the
  /// interface.
  private var definitions: [Definition]
  private var numbers: [UInt16?] = []

  init(
    _ file: JournalFile, _ end: Int, _ header: JournalHeader, next: UInt64,
    _ definitions: [Definition], _ options: JournalOptions, told: UInt8 = 0
  ) throws(JournalError) {
    path = file.path
    self.file = file
    self.end = end
    self.options = options
    first = header.first
    self.next = next
    tellsUnsynced = header.tellsUnsynced && options.sync != .never
    // Zeros that a killed process left are reused. They are cut if no call waits for the disk.
    let size = try file.size
    room = JournalRoom(tellsUnsynced ? JournalRoom.step(options) : 0, end: max(end, size))
    if !tellsUnsynced { room.trim(to: end, of: file) }
    if tellsUnsynced { self.told = told }
    // If calls wait for the disk, the records of earlier processes were synced when the file was
    // opened.
    synced = options.sync != .never || next == first ? next : 0
    self.definitions = definitions
  }

  /// The least size that the file has, unless another program has truncated it.
  var filled: Int { max(end, room.end) }

  /// Whether no further record may be written.
  var isClosed: Bool { file == nil || isClosing }

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

  /// The sequence number below which the thread of the journal has to sync records; nil if no task
  /// waits.
  mutating func nextServed() -> UInt64? {
    let wanted = lastWanted
    isServed = wanted != nil
    return wanted
  }

  /// Appends a record that says that all records before it are on the disk, which the last of them
  /// could not say of themselves. If they are unreadable later, that is damage and not a power cut.
  /// A failure to append it is harmless.
  mutating func tellSynced() {
    // No sequence number is left for this record after the last one.
    guard told > 0, next < JournalFormat.numbers, let file else { return }
    var header = RecordHeader(kind: .mark, sequence: next, time: JournalFile.now)
    header.kind = RecordKind.synced
    var writer = WireWriter(limit: JournalFormat.recordSize)
    guard (try? RecordHeader.reserve(in: &writer)) != nil else { return }
    header.fill(in: &writer, at: 0)
    if (try? append(writer, to: file)) != nil { told = 0 }
  }

  /// Notes that the zeros behind the records were cut.
  mutating func forgetRoom() { room.forget(behind: end) }

  /// Cuts the zeros behind the records, which are no longer needed.
  mutating func trim() {
    if let file { room.trim(to: end, of: file) }
  }

  /// Finds the messages of an interface among those that the file defines.
  mutating func prepare(_ interface: Interface) {
    numbers = interface.messages.reduce(into: Array(repeating: nil, count: interface.count)) {
      numbers, message in
      let wanted = Definition(interface, message)
      numbers[message.index] = definitions.firstIndex(of: wanted).map { UInt16($0) }
    }
  }

  /// Continues in another file, which is on the disk.
  mutating func replace(
    _ file: JournalFile, first: UInt64, end: Int, definitions: [Definition], _ interface: Interface
  ) {
    self.file = file
    self.first = first
    self.end = end
    self.definitions = definitions
    budget = 0
    tellsUnsynced = options.sync != .never
    told = 0
    room = JournalRoom(tellsUnsynced ? JournalRoom.step(options) : 0, end: end)
    prepare(interface)
  }

  /// Appends a record that was encoded after the reserved space for its header.
  @inline(__always)
  mutating func append(
    _ writer: inout WireWriter, _ kind: RecordKind, _ message: InterfaceMessage,
    of interface: Interface, at time: Int64
  ) throws(JournalError) -> UInt64 {
    guard let file, !isClosing else { throw .closed(path: path) }
    try look(for: file, at: path, time)
    guard next < JournalFormat.numbers else { throw .tooLarge(next, offset: end, at: 8) }
    var header = RecordHeader(kind: kind, sequence: next, time: time)
    if tellsUnsynced { header.flags = RecordHeader.telling(unsynced: next - synced) }
    guard let number = numbers[message.index] else {
      return try appendDefined(&writer, header, message, of: interface, to: file)
    }
    header.message = number
    header.fill(in: &writer, at: 0)
    try append(writer, to: file)
    next += 1
    told = header.flags
    return header.sequence
  }

  /// Checks that the path still leads to the file, unless that was checked a few milliseconds ago.
  /// If records are synced, each sync ends with this check as well.
  @inline(__always)
  private mutating func look(
    for file: JournalFile, at path: String, _ time: Int64
  ) throws(JournalError) {
    if time &- seen > Self.rest || time < seen {
      try lookNow(for: file, at: path, time)
    }
  }

  mutating func lookNow(
    for file: JournalFile, at path: String, _ time: Int64
  ) throws(JournalError) {
    guard try file.isAt(path, holding: filled) else {
      let error = JournalError.displaced(path: path)
      end(after: error)
      throw error
    }
    seen = time
  }

  /// Appends a record after the definition of its message, both with one write.
  private mutating func appendDefined(
    _ record: inout WireWriter, _ header: RecordHeader, _ message: InterfaceMessage,
    of interface: Interface, to file: JournalFile
  ) throws(JournalError) -> UInt64 {
    guard definitions.count < JournalFormat.maximumDefinitions else {
      throw .tooManyMessages(limit: JournalFormat.maximumDefinitions)
    }
    let definition = Definition(interface, message)
    let number = UInt16(definitions.count)
    var header = header
    header.message = number
    var writer = WireWriter(limit: 2 * JournalFormat.maximumRecord)
    do throws(WireError) {
      try RecordHeader.reserve(in: &writer)
      try definition.write(to: &writer)
      var defining = header
      defining.kind = RecordKind.definition.rawValue
      defining.fill(in: &writer, at: 0)
      let start = writer.count
      try writer.append(record.bytes)
      header.fill(in: &writer, at: start)
    } catch {
      throw .refused(error)
    }
    try append(writer, to: file)
    definitions.append(definition)
    numbers[message.index] = number
    next += 1
    told = header.flags
    return header.sequence
  }

  private mutating func append(
    _ writer: borrowing WireWriter, to file: JournalFile
  ) throws(JournalError) {
    room.make(writer.count, at: end, in: file)
    do { try file.append(writer, at: end) } catch {
      room.forget(behind: end)
      // If a partial record is left, a record after it would be taken for damage, so the journal
      // closes. The sync is for the callers that wait for earlier records. Beside another sync it
      // would prove nothing: the system reports a lost write to only one of the two.
      if (try? file.size) != end {
        if !isSyncing, (try? file.sync()) != nil { synced = next }
        end(after: error)
      }
      throw error
    }
    end += writer.count
  }
}
