// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Foundation

// Opening a file for writing, and beginning a new one.
extension JournalState {
  /// Opens a file for writing: finds its end, and cuts the rest of an interrupted write. A new file
  /// and its name are synced, if the options have calls wait for the disk.
  static func open(
    _ path: String, _ options: JournalOptions
  ) throws(JournalError) -> (state: JournalState, cut: JournalTail) {
    // Another program may create and remove the file meanwhile, but not without end.
    for _ in 0..<100 {
      if let file = try existing(path) {
        if try isBeginning(file) { return try begin(again: file, at: path, options) }
        return try resume(file, at: path, options)
      }
      if let state = try create(path, options) { return (state, .whole) }
    }
    throw .system("created", path: path, code: EEXIST)
  }

  /// Opens and locks the file at a path; nil if the path leads to no file.
  private static func existing(_ path: String) throws(JournalError) -> JournalFile? {
    while true {
      let file: JournalFile
      do throws(JournalError) { file = try JournalFile(path, for: .appending) } catch {
        if case .system(_, _, ENOENT) = error { return nil }
        throw error
      }
      try file.lock()
      // The process that held the lock before may have rotated this file.
      if try file.isAt(path) { return file }
    }
  }

  /// Creates the file of a new journal. It gets its name when its header is written, so that readers
  /// never find a file without one. Returns nil if there is a file at the path by then.
  private static func create(
    _ path: String, _ options: JournalOptions
  ) throws(JournalError) -> JournalState? {
    let (file, name): (JournalFile, String)
    do throws(JournalError) { (file, name) = try UnfinishedFile.creating.begin(of: path) } catch {
      // The path itself may be short enough for a name. The file is begun as one that was found.
      guard case .system(_, _, ENAMETOOLONG) = error else { throw error }
      do throws(JournalError) { _ = try JournalFile(path, for: .creating) } catch {
        guard case .system(_, _, EEXIST) = error else { throw error }
      }
      return nil
    }
    var isNamed = false
    defer { if !isNamed { JournalFile.remove(name) } }
    try checkNew(path)
    let folder = try JournalFolder(of: path)
    let state = try begin(file, options)
    isNamed = try JournalFile.move(name, toNew: path)
    guard isNamed else { return nil }
    try folder.sync()
    return state
  }

  /// Writes the header of a file that is empty, or has the beginning of one.
  private static func begin(
    again file: JournalFile, at path: String, _ options: JournalOptions
  ) throws(JournalError) -> (state: JournalState, cut: JournalTail) {
    try checkNew(path)
    let size = try file.size
    let state = try begin(file, options)
    try JournalFile.syncFolder(of: path)
    return (state, size == 0 ? .whole : .torn(offset: 0, bytes: size))
  }

  /// Throws if the journal has rotated files. A rotation leaves a file at the path at every moment,
  /// so another program removed it.
  private static func checkNew(_ path: String) throws(JournalError) {
    if let last = try JournalFiles.list(path).last {
      throw .withoutNewest(path: path, rotated: last.path)
    }
  }

  private static func begin(
    _ file: JournalFile, _ options: JournalOptions
  ) throws(JournalError) -> JournalState {
    let header = JournalHeader(
      first: 1, time: JournalFile.now, tellsUnsynced: options.sync != .never)
    try begin(file, header)
    if options.sync != .never { try file.sync() }
    return try JournalState(
      file, JournalFormat.headerSize, header, next: header.first, [], options)
  }

  private static func resume(
    _ file: JournalFile, at path: String, _ options: JournalOptions
  ) throws(JournalError) -> (state: JournalState, cut: JournalTail) {
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

  /// Whether a file is empty, or the beginning of a header.
  private static func isBeginning(_ file: JournalFile) throws(JournalError) -> Bool {
    guard try file.size < JournalFormat.headerSize else { return false }
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
