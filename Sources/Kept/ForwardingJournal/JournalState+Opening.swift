// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

// Opening a file for writing, and beginning a new one.
extension JournalState {
  /// Opens a file for writing: finds its end, and cuts the rest of an interrupted write. A new file
  /// and its name are synced, if the options have calls wait for the disk.
  static func open(
    _ path: String, _ options: JournalOptions
  ) throws(JournalError) -> (state: JournalState, cut: JournalTail) {
    var file = try JournalFile(path, for: .appending)
    try file.lock()
    // The process that held the lock before may have rotated this file.
    while try !file.isAt(path) {
      file = try JournalFile(path, for: .appending)
      try file.lock()
    }
    let size = try file.size
    if size < JournalFormat.headerSize, try isBeginning(file) {
      // A rotation leaves a file at the path at every moment, so another program removed it.
      if let last = try JournalFiles.list(path).last {
        if size == 0 { JournalFile.remove(path) }
        throw .withoutNewest(path: path, rotated: last.path)
      }
      let header = JournalHeader(
        first: 1, time: JournalFile.now, tellsUnsynced: options.sync != .never)
      try begin(file, header)
      if options.sync != .never { try file.sync() }
      try JournalFile.syncFolder(of: path)
      let state = try JournalState(
        file, JournalFormat.headerSize, header, next: header.first, [], options)
      return (state, size == 0 ? .whole : .torn(offset: 0, bytes: size))
    }
    let scanner = try JournalScanner(JournalWindow(file), path: path)
    // A file that was rotated after this one would never be read.
    _ = try JournalListing(of: path)
    var last: JournalFrame?
    // The records in front of this offset were on the disk when a later one was written.
    var (sure, before) = (JournalFormat.headerSize, JournalFormat.headerSize)
    while let frame = try scanner.nextCall() {
      if frame.header.unsynced == 0 { sure = before }
      (last, before) = (frame, frame.end)
    }
    if case .torn(let offset, _) = scanner.tail { try file.cut(to: offset) }
    if options.sync != .never {
      // A later record will say that these are on the disk. If a sync of the process before has
      // failed, the system may have forgotten that they are not, unless they are written again.
      try file.rewrite(min(sure, scanner.offset)..<scanner.offset)
      try file.sync()
    }
    try JournalFiles.removeSecondName(of: file, from: scanner.header.first, of: path)
    // The name may not be on the disk yet, if the process that created the file was killed.
    try JournalFile.syncFolder(of: path)
    return (
      try JournalState(
        file, scanner.offset, scanner.header, next: scanner.next, scanner.definitions, options,
        // After a record that says so, everything is on the disk.
        told: last?.end == scanner.offset ? last?.header.flags ?? 0 : 0),
      scanner.tail
    )
  }

  /// Whether a short file is empty, or the beginning of a journal.
  private static func isBeginning(_ file: JournalFile) throws(JournalError) -> Bool {
    let window = JournalWindow(file)
    let count = min(try window.size, JournalFormat.magic.count)
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

  /// Writes the header of a file.
  static func begin(_ file: JournalFile, _ header: JournalHeader) throws(JournalError) {
    try file.cut(to: 0)
    var writer = WireWriter(limit: JournalFormat.headerSize)
    do throws(WireError) { try header.write(to: &writer) } catch { throw .refused(error) }
    try file.append(writer, at: 0)
  }
}
