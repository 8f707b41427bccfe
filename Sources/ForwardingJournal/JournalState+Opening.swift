import ForwardingWire

// A file that is opened to be written, and how one begins.
extension JournalState {
  /// Opens a file for writing: finds its end, and cuts what a broken write left there. A new one, and its name, are on
  /// the disk then if somebody waits for it.
  static func open(
    _ path: String, _ options: JournalOptions
  ) throws(JournalError) -> (state: JournalState, cut: JournalTail) {
    var file = try JournalFile(path, for: .appending)
    try file.lock()
    // The process that had the lock may have put that file aside before.
    while !file.isAt(path) {
      file = try JournalFile(path, for: .appending)
      try file.lock()
    }
    if file.size < JournalFormat.headerSize, try isBeginning(file) {
      let first = try JournalFiles.nextSequence(before: path)
      let header = JournalHeader(
        first: first, time: JournalFile.now, tellsUnsynced: options.sync != .never)
      try begin(file, header)
      if options.sync != .never { try file.sync() }
      try JournalFile.syncFolder(of: path)
      return (
        JournalState(file, JournalFormat.headerSize, header, next: first, [], options), .whole
      )
    }
    let scanner = try JournalScanner(JournalWindow(file), path: path)
    // A file that was put aside later than this one would never be read.
    _ = try JournalListing(of: path)
    var last: JournalFrame?
    while let frame = try scanner.nextCall() { last = frame }
    if case .torn(let offset, _) = scanner.tail { try file.cut(to: offset) }
    try JournalFiles.removeSecondName(of: file, from: scanner.header.first, of: path)
    // Its name may not be on the disk yet, if the process that made it was killed.
    try JournalFile.syncFolder(of: path)
    return (
      JournalState(
        file, scanner.offset, scanner.header, next: scanner.next, scanner.definitions, options,
        // Behind a record that says so, all is on the disk.
        told: last?.end == scanner.offset ? last?.header.flags ?? 0 : 0),
      scanner.tail
    )
  }

  /// Whether a short file is empty, or what a journal begins with.
  private static func isBeginning(_ file: JournalFile) throws(JournalError) -> Bool {
    let window = JournalWindow(file)
    let count = min(window.size, JournalFormat.magic.count)
    guard try window.load(count, at: 0) else { return false }
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
}
