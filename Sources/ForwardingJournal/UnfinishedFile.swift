// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Foundation

/// A file that a journal makes for itself, until it is whole and gets the journal's path.
enum UnfinishedFile {
  /// The end of its name.
  private static let suffix = ".new~"

  /// Whether a path ends as that of such a file. Bytes are compared, because two files may have
  /// names of equal characters.
  static func isName(_ path: String) -> Bool {
    path.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }

  /// Begins a file, locks it, and writes its header, which is on the disk then. A file that an
  /// interrupted process has left at its name is removed.
  static func begin(
    of path: String, first: UInt64, permissionsOf old: JournalFile? = nil
  ) throws(JournalError) -> (file: JournalFile, name: String) {
    let name = path + suffix
    let file = try create(name, of: path)
    do throws(JournalError) {
      if let old { file.adoptPermissions(of: old) }
      try writeHeader(file, first: first)
      try file.sync()
    } catch {
      JournalFile.remove(name)
      throw error
    }
    return (file, name)
  }

  /// Writes the header of an empty file.
  static func writeHeader(_ file: JournalFile, first: UInt64) throws(JournalError) {
    var writer = WireWriter(limit: JournalFormat.headerSize)
    do throws(WireError) {
      try JournalHeader(first: first, time: JournalFile.now).write(to: &writer)
    } catch {
      throw .refused(error)
    }
    try file.append(writer, at: 0)
  }

  private static func create(
    _ name: String, of path: String
  ) throws(JournalError) -> JournalFile {
    // Other processes may do the same, but not without end.
    for _ in 0..<100 {
      do throws(JournalError) {
        // Until this lock is held, another process may be writing the file.
        let left = try open(name, .clearing, of: path)
        try left.lock()
        if try left.isAt(name) { try JournalFile.removeSurely(name) }
      } catch .system(_, _, ENOENT) {
      }
      let file: JournalFile
      do throws(JournalError) { file = try open(name, .creating, of: path) } catch {
        if case .system(_, _, EEXIST) = error { continue }
        throw error
      }
      do throws(JournalError) { try file.lock() } catch {
        // Another process may take it for one that was left.
        if case .locked = error { continue }
        JournalFile.remove(name)
        throw error
      }
      if try file.isAt(name) { return file }
    }
    throw .locked(path: path, holder: nil)
  }

  private static func open(
    _ name: String, _ purpose: JournalFile.Purpose, of path: String
  ) throws(JournalError) -> JournalFile {
    do throws(JournalError) { return try JournalFile(name, for: purpose, named: path) } catch {
      // If there is no such file, the folder is missing, or refuses new files.
      guard case .system(let what, _, let code) = error, !JournalFile.exists(name) else {
        throw error
      }
      throw .system(what, path: path, code: code)
    }
  }
}
