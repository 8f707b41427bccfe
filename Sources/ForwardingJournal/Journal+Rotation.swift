import ForwardingWire

extension Journal {
  /// Puts the file aside, under its name and the number of its first record, and goes on in a new one. Readers
  /// find both. The file that is put aside is on the disk then, and so is the beginning of the new one.
  public func rotate() throws(JournalError) { try rotate(ifAtLeast: 0) }

  func rotate(ifAtLeast size: Int) throws(JournalError) {
    try check()
    try state.wait { (state) throws(JournalError) -> Void? in
      guard let file = state.file, !state.isClosing else { throw .closed(path: path) }
      // Who waits for the disk, or compacts, has this file in its hands.
      if state.isCompacting, size == 0 { throw .inUse(path: path) }
      if state.isSyncing || state.isCompacting { return size > 0 ? () : nil }
      // Somebody else may have been quicker.
      guard state.end >= size, state.next > state.first else { return () }
      // Without its end, nobody could read on in the new one.
      try state.sync()
      let new = try JournalFile(path + ".new", for: .replacing)
      try new.lock()
      defer { if !new.isAt(path) { JournalFile.remove(new.path) } }
      try JournalState.begin(new, JournalHeader(first: state.next, time: JournalFile.now))
      try new.sync()
      JournalFiles.removeSecondName(of: file, from: state.first, of: path)
      // There is a file at the path at every moment.
      try JournalFile.name(path, as: JournalFiles.path(of: path, from: state.first))
      try JournalFile.move(new.path, to: path)
      try state.syncFolder(of: path)
      state.replace(
        new, first: state.next, end: JournalFormat.headerSize, definitions: [], interface)
      return ()
    }
  }

  /// Leaves out the calls of the file for which `keep` says so. The others keep their numbers and times; what was
  /// put aside before stays as it is.
  ///
  /// Calls may be written meanwhile, and are kept. The new file takes the old one's place at once, when it is on the
  /// disk.
  ///
  /// Returns how many calls were left out.
  @discardableResult
  public func compact(keeping keep: (JournalRecord) throws -> Bool) throws -> Int {
    try check()
    try state.withLock { (state) throws(JournalError) in
      if state.isClosed { throw .closed(path: path) }
      // It may be this thread that does it, in `keep`.
      if state.isCompacting { throw .inUse(path: path) }
      state.isCompacting = true
    }
    defer { state.announce { $0.isCompacting = false } }
    let scanner = try JournalScanner(
      JournalWindow(JournalFile(path, for: .reading)), path: path)
    let new = try JournalFile(path + ".compact", for: .replacing)
    // Before it is locked, it may be somebody's journal.
    try new.lock()
    defer { if !new.isAt(path) { JournalFile.remove(new.path) } }
    let copy = try JournalCopy(of: scanner, to: new)
    // Most is done while others write, the rest while they wait.
    let end = state.withLock { $0.end }
    while scanner.offset < end, let frame = try scanner.nextCall() {
      if try keep(JournalRecord(frame, in: scanner)) {
        try copy.append(frame)
      } else {
        copy.leftOut += 1
      }
    }
    try copy.flush()
    try new.sync()
    try state.wait { (state) throws(JournalError) -> Void? in
      guard let old = state.file else { throw .closed(path: path) }
      if state.isSyncing { return nil }
      while let frame = try scanner.nextCall() { try copy.append(frame) }
      try copy.finish(next: state.next)
      try new.sync()
      JournalFiles.removeSecondName(of: old, from: state.first, of: path)
      try JournalFile.move(new.path, to: path)
      try state.syncFolder(of: path)
      state.synced = state.next
      state.replace(
        new, first: state.first, end: copy.end, definitions: copy.definitions, interface)
      return ()
    }
    return copy.leftOut
  }
}

/// Copies records of one file to another one.
final class JournalCopy {
  private let scanner: JournalScanner
  private let file: JournalFile
  private(set) var end = JournalFormat.headerSize
  private(set) var definitions: [Definition] = []
  private var next: UInt64
  private var bytes: [UInt8] = []
  var leftOut = 0

  init(of scanner: JournalScanner, to file: JournalFile) throws(JournalError) {
    (self.scanner, self.file) = (scanner, file)
    next = scanner.header.first
    var header = scanner.header
    header.isCompacted = true
    try JournalState.begin(file, header)
  }

  /// Copies a call, and the definition of its message if the file has none.
  func append(_ frame: JournalFrame) throws(JournalError) {
    let definition = scanner.definitions[Int(frame.header.message)]
    var header = frame.header
    if let known = definitions.firstIndex(of: definition) {
      header.message = UInt16(known)
    } else {
      header.message = UInt16(definitions.count)
      definitions.append(definition)
      let defining = RecordHeader(
        kind: .definition, message: header.message, sequence: next, time: header.time)
      try write(defining) { (writer) throws(WireError) in try definition.write(to: &writer) }
    }
    let contents = try scanner.contents(of: frame) { (reader) throws(WireError) in
      try reader.bytes(reader.left)
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

  /// Writes what was copied to the file.
  func flush() throws(JournalError) {
    var writer = WireWriter(limit: .max)
    do throws(WireError) { try writer.append(bytes) } catch { throw .refused(error) }
    try file.append(writer, at: end)
    end += bytes.count
    bytes.removeAll(keepingCapacity: true)
  }

  /// Writes the number that the next record has, unless the last one tells it.
  func finish(next wanted: UInt64) throws(JournalError) {
    if next < wanted {
      try write(RecordHeader(kind: .mark, sequence: wanted - 1, time: JournalFile.now)) { _ in }
    }
    try flush()
  }
}
