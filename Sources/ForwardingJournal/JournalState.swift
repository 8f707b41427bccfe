import ForwardingWire

/// What a journal knows of the file that it writes.
struct JournalState {
  /// The file; nil once it is closed.
  private(set) var file: JournalFile?
  /// Why there is none any more, until somebody who closes the journal was told.
  private(set) var failure: JournalError?
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
  /// Whether somebody is waiting for the disk.
  var isSyncing = false
  /// Whether somebody is making a smaller file of this one.
  var isCompacting = false
  /// Whether somebody waits until no record is on its way, to close the file. None is begun then.
  var isClosing = false
  /// How long the file is at least when it is tried once more to put it aside.
  var patience = 0
  /// The messages that the file defines, and the number of each of the interface's, by its index there.
  private var definitions: [Definition]
  private var numbers: [UInt16?] = []

  /// Opens a file for writing: finds its end, and cuts what a broken write left there. A new one, and its name, are on
  /// the disk then if somebody waits for it.
  static func open(
    _ path: String, _ sync: JournalOptions.Sync
  ) throws(JournalError) -> (state: JournalState, cut: JournalTail) {
    var file = try JournalFile(path, for: .appending)
    try file.lock()
    // Who had the lock may have put that file aside before.
    while !file.isAt(path) {
      file = try JournalFile(path, for: .appending)
      try file.lock()
    }
    if file.size < JournalFormat.headerSize, try isBeginning(file) {
      let first = try JournalFiles.nextSequence(before: path)
      try begin(file, JournalHeader(first: first, time: JournalFile.now))
      if sync != .never { try file.sync() }
      try JournalFile.syncFolder(of: path)
      return (JournalState(file, JournalFormat.headerSize, first, next: first, []), .whole)
    }
    let scanner = try JournalScanner(JournalWindow(file), path: path)
    while try scanner.nextCall() != nil {}
    if case .torn(let offset, _) = scanner.tail { try file.cut(to: offset) }
    JournalFiles.removeSecondName(of: file, from: scanner.header.first, of: path)
    // Who gave the file its name may have died before that was on the disk.
    try JournalFile.syncFolder(of: path)
    return (
      JournalState(
        file, scanner.offset, scanner.header.first, next: scanner.next, scanner.definitions),
      scanner.tail
    )
  }

  /// Whether a short file is empty, or what a journal begins with.
  private static func isBeginning(_ file: JournalFile) throws(JournalError) -> Bool {
    let window = JournalWindow(file)
    let count = min(window.size, JournalFormat.magic.count)
    guard window.load(count, at: 0) else { return false }
    do throws(WireError) {
      let bytes = try window.read(count, at: 0) { (reader) throws(WireError) in
        try reader.bytes(count)
      }
      return bytes == Array(JournalFormat.magic.prefix(count))
    } catch {
      return false
    }
  }

  /// Writes the beginning of a file.
  static func begin(_ file: JournalFile, _ header: JournalHeader) throws(JournalError) {
    try file.cut(to: 0)
    var writer = WireWriter(limit: JournalFormat.headerSize)
    do throws(WireError) { try header.write(to: &writer) } catch { throw .refused(error) }
    try file.append(writer, at: 0)
  }

  init(
    _ file: JournalFile, _ end: Int, _ first: UInt64, next: UInt64, _ definitions: [Definition]
  ) {
    self.file = file
    self.end = end
    self.first = first
    self.next = next
    // Whoever wrote a file before may not have waited for the disk.
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

  /// Lets go of the file, if it is there; throws why it is not, to the first who asks.
  mutating func close() throws(JournalError) {
    defer { failure = nil }
    try sync()
    if let failure { throw failure }
    file?.unlock()
    file = nil
  }

  /// Waits until all is on the disk.
  mutating func sync() throws(JournalError) {
    guard let file, synced < next else { return }
    do { try file.sync() } catch {
      // What was not written may be forgotten by the system: nobody knows what is on the disk.
      end(after: error)
      throw error
    }
    synced = next
    syncs += 1
  }

  /// Waits until the name of the file that took the place of another one is on the disk.
  mutating func syncFolder(of path: String) throws(JournalError) {
    do { try JournalFile.syncFolder(of: path) } catch {
      // Nobody knows which of them is there after the machine has stopped.
      end(after: error)
      throw error
    }
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
    prepare(interface)
  }

  /// Appends the record that was written behind the room for its header.
  @inline(__always)
  mutating func append(
    _ writer: inout WireWriter, _ kind: RecordKind, _ message: InterfaceMessage,
    of interface: Interface, at time: Int64, path: String
  ) throws(JournalError) -> UInt64 {
    guard let file, !isClosing else { throw .closed(path: path) }
    guard next < JournalFormat.numbers else { throw .tooLarge(next, offset: end, at: 8) }
    var header = RecordHeader(kind: kind, sequence: next, time: time)
    guard let number = numbers[message.index] else {
      return try appendDefined(&writer, header, message, of: interface, to: file)
    }
    header.message = number
    header.fill(in: &writer, at: 0)
    try append(writer, to: file)
    next += 1
    return header.sequence
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
      RecordHeader(kind: .definition, message: number, sequence: next, time: header.time)
        .fill(in: &writer, at: 0)
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
    return header.sequence
  }

  private mutating func append(
    _ writer: borrowing WireWriter, to file: JournalFile
  ) throws(JournalError) {
    do { try file.append(writer, at: end) } catch {
      // Half a record could not be cut: others behind it would be taken for damage. Some wait for those before it.
      if file.size != end {
        try? sync()
        end(after: error)
      }
      throw error
    }
    end += writer.count
  }
}
