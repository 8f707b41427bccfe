import ForwardingWire

/// What a journal knows of the file that it writes.
struct JournalState {
  /// The file; nil once it is closed.
  private(set) var file: JournalFile?
  /// Why there is none any more, until somebody who closes the journal was told.
  var failure: JournalError?
  /// The file's length.
  var end: Int
  /// The number of the file's first record.
  private(set) var first: UInt64
  /// The number of the next record.
  var next: UInt64
  /// The number of the first record that may not be on the disk.
  var synced: UInt64
  /// How often somebody waited for the disk.
  var syncs = 0
  /// The file's path.
  let path: String
  /// The tasks that are suspended, in the order in which they came; and whether the thread of the journal waits for them.
  var suspended: [JournalWaiter] = []
  var isServed = false
  /// How many were resumed at a time.
  var resumed = 0
  /// Whether somebody is waiting for the disk.
  var isSyncing = false
  /// Whether somebody is making a smaller file of this one.
  var isCompacting = false
  /// Whether files change, or are closed: no record is written then, and nobody else waits for the disk.
  var isChanging = false
  /// Whether one who wants to wait for the disk must wait for others.
  var isBusy: Bool { isSyncing || isChanging }
  /// Whether somebody waits until no record is on its way, to close the file. None is begun then.
  var isClosing = false
  /// How long the file is at least when it is tried once more to put it aside.
  var patience = 0
  /// When the path was last seen to lead to the file.
  private var seen: Int64 = 0
  /// How long nothing is asked then, if no record is waited for.
  private static let rest: Int64 = 10_000_000
  /// Whether and how calls wait for the disk.
  private let options: JournalOptions
  /// What is behind the records.
  private var room: JournalRoom
  /// Whether each record tells how many before it were not on the disk; and how many the last one told.
  private var (tellsUnsynced, told) = (false, UInt8(0))
  /// The messages that the file defines, and the number of each of the interface's, by its index there.
  private var definitions: [Definition]
  private var numbers: [UInt16?] = []

  init(
    _ file: JournalFile, _ end: Int, _ header: JournalHeader, next: UInt64,
    _ definitions: [Definition], _ options: JournalOptions, told: UInt8 = 0
  ) {
    path = file.path
    self.file = file
    self.end = end
    self.options = options
    first = header.first
    self.next = next
    tellsUnsynced = header.tellsUnsynced && options.sync != .never
    // What a process that was killed left is used, and one that nobody waits for needs none.
    room = JournalRoom(tellsUnsynced ? JournalRoom.step(options) : 0, end: max(end, file.size))
    if !tellsUnsynced { room.trim(to: end, of: file) }
    if tellsUnsynced { self.told = told }
    // Records of an earlier process may not be on the disk.
    synced = next == first ? next : 0
    self.definitions = definitions
  }

  /// Whether no record may be written any more.
  var isClosed: Bool { file == nil || isClosing }

  /// Lets go of the file after an error, which `close()` throws.
  mutating func end(after error: JournalError) {
    if file != nil { failure = error }
    file = nil
  }

  /// Lets others write the file.
  mutating func letGo() {
    file?.unlock()
    file = nil
  }

  /// The number up to which the thread of the journal brings records to the disk; nil if no task waits.
  mutating func nextServed() -> UInt64? {
    let wanted = lastWanted
    isServed = wanted != nil
    return wanted
  }

  /// Writes that the last records are on the disk, which they cannot tell of themselves: what becomes of them later is
  /// damage, and not a power cut. It does no harm if that is not written.
  mutating func tellSynced() {
    // Behind the last number there is none for it.
    guard told > 0, next < JournalFormat.numbers, let file else { return }
    var header = RecordHeader(kind: .mark, sequence: next, time: JournalFile.now)
    header.kind = RecordKind.synced
    var writer = WireWriter(limit: JournalFormat.recordSize)
    guard (try? RecordHeader.reserve(in: &writer)) != nil else { return }
    header.fill(in: &writer, at: 0)
    if (try? append(writer, to: file)) != nil { told = 0 }
  }

  /// The room behind the records was cut.
  mutating func forgetRoom() { room.forget(behind: end) }

  /// Cuts the room behind the records, which nobody needs any more.
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

  /// Goes on in another file, which is on the disk.
  mutating func replace(
    _ file: JournalFile, first: UInt64, end: Int, definitions: [Definition], _ interface: Interface
  ) {
    self.file = file
    self.first = first
    self.end = end
    self.definitions = definitions
    patience = 0
    tellsUnsynced = options.sync != .never
    told = 0
    room = JournalRoom(tellsUnsynced ? JournalRoom.step(options) : 0, end: end)
    prepare(interface)
  }

  /// Appends the record that was written behind the room for its header.
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

  /// Asks whether the path still leads to the file, if that was not asked for some milliseconds. Where records are waited
  /// for, it is asked at the end of each wait.
  @inline(__always)
  private mutating func look(
    for file: JournalFile, at path: String, _ time: Int64
  ) throws(JournalError) {
    if options.sync == .never, time &- seen > Self.rest || time < seen {
      try lookNow(for: file, at: path, time)
    }
  }

  mutating func lookNow(
    for file: JournalFile, at path: String, _ time: Int64
  ) throws(JournalError) {
    guard file.isAt(path) else {
      let error = JournalError.displaced(path: path)
      end(after: error)
      throw error
    }
    seen = time
  }

  /// Appends a record behind the definition of its message, both by one write.
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
      // Half a record could not be cut: others behind it would be taken for damage. Some wait for those before it.
      if file.size != end {
        if (try? file.sync()) != nil { synced = next }
        end(after: error)
      }
      throw error
    }
    end += writer.count
  }
}
