// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Foundation

// Opening a file for writing, and beginning a new one.
extension JournalState {
  /// Opens a file for writing: finds its end, and cuts the rest of an interrupted write. A new file
  /// and its name are on the disk then.
  static func open(
    _ path: String, _ options: JournalOptions
  ) throws(JournalError) -> (state: JournalState, cut: Int) {
    // Another program may create and remove the file meanwhile, but not without end.
    for _ in 0..<100 {
      if let file = try existing(path) { return try resume(file, options) }
      if let file = try create(path) { return try resume(file, options) }
    }
    throw .system("created", path: path, code: EEXIST)
  }

  /// Opens and locks the file at a path; nil if the path leads to no file.
  private static func existing(_ path: String) throws(JournalError) -> JournalFile? {
    while true {
      let file: JournalFile
      do throws(JournalError) { file = try JournalFile(path, O_RDWR) } catch {
        if case .system(_, _, ENOENT) = error { return nil }
        throw error
      }
      try file.lock()
      // The process that held the lock before may have rotated this file.
      if try file.isAt(path) { return file }
    }
  }

  /// Creates the file of a new journal. Returns nil if there is a file at the path by then.
  private static func create(_ path: String) throws(JournalError) -> JournalFile? {
    let (file, name) = try JournalFile.begin(for: path, first: 1)
    defer { try? JournalFile.remove(name) }
    // A rotation leaves a file at the path at every moment, so another program removed it.
    if let last = try JournalFiles.list(path).last {
      throw .withoutNewest(path: path, rotated: last.path)
    }
    do throws(JournalError) { try JournalFile.name(name, as: path) } catch {
      if case .system(_, _, EEXIST) = error { return nil }
      throw error
    }
    return file
  }

  private static func resume(
    _ file: JournalFile, _ options: JournalOptions
  ) throws(JournalError) -> (state: JournalState, cut: Int) {
    let path = file.path
    let window = JournalWindow(file)
    var scanner = try JournalScanner(window)
    let first = scanner.header.first
    // A file that was rotated after this one would never be read. This one may have both names.
    if let last = try JournalFiles.list(path).last, last.first >= first, try !file.isAt(last.path) {
      throw .misplaced(path: last.path, expected: first, given: last.first)
    }
    // The records in front of this offset were on the disk when a later one was written.
    var (sure, before) = (JournalFormat.headerSize, JournalFormat.headerSize)
    while let frame = try scanner.nextFrame() {
      if frame.header.unsynced == 0 { sure = before }
      before = frame.end
    }
    if scanner.torn > 0 { try file.cut(to: scanner.offset) }
    if options.sync != .never {
      // A later record will say that these are on the disk. If a sync of the process before has
      // failed, the system may have forgotten that they are not, unless they are written again.
      try window.rewrite(sure..<scanner.offset)
      try file.sync()
    }
    // A process that died during a rotation leaves a second name.
    let aside = JournalFiles.path(of: path, from: first)
    if try file.isAt(aside) { try JournalFile.remove(aside) }
    // The name may not be on the disk yet, if the process that created the file was killed.
    try JournalFile.syncFolder(of: path)
    return (JournalState(file, scanner, options), scanner.torn)
  }
}
