// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The files of a journal: the one that is written, which is the newest, and the rotated ones, with
/// the sequence number of their first record in their names.
enum JournalFiles {
  struct Older {
    let path: String
    let first: UInt64
  }

  /// Returns the absolute path of a journal's file, which stays valid when the process changes its
  /// working directory. Symbolic links are followed: rotated files lie beside the file, and a
  /// replacing file must not replace the link.
  static func file(_ path: String) -> String {
    let folder = FileManager.default.currentDirectoryPath
    // A removed folder has no path.
    var path = path.hasPrefix("/") || folder.isEmpty ? path : folder + "/" + path
    for _ in 0..<40 {
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
        break
      }
      let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "/"
      path = target.hasPrefix("/") ? target : folder + target
    }
    return path
  }

  /// The path of a rotated file.
  static func path(of path: String, from first: UInt64) -> String {
    let digits = "\(first)"
    return "\(path).\(String(repeating: "0", count: max(0, 12 - digits.count)))\(digits)"
  }

  /// The files with names of rotated files, the oldest first.
  static func list(_ path: String) throws(JournalError) -> [Older] {
    let url = URL(fileURLWithPath: path)
    let names = try JournalFile.names(in: url.deletingLastPathComponent().path)
    return names.compactMap { name -> Older? in
      guard let first = number(of: name, of: url.lastPathComponent) else { return nil }
      return Older(path: self.path(of: path, from: first), first: first)
    }.sorted { $0.first < $1.first }
  }

  /// The number in the name of a rotated file. Bytes are compared, because two files may have names
  /// of equal characters.
  private static func number(of name: String, of journal: String) -> UInt64? {
    let prefix = (journal + ".").utf8
    guard name.utf8.starts(with: prefix),
      let first = UInt64(String(decoding: name.utf8.dropFirst(prefix.count), as: UTF8.self)),
      name.utf8.elementsEqual(path(of: journal, from: first).utf8)
    else { return nil }
    return first
  }

  /// Removes rotated files, the oldest first.
  static func remove(_ files: ArraySlice<Older>) throws(JournalError) {
    for file in files {
      try JournalFile.remove(file.path)
      // After a crash, no file may be missing between others.
      try JournalFile.syncFolder(of: file.path)
    }
  }

  /// A file that was opened for reading, and the sequence number in its name; nil for the newest.
  struct Opened {
    let file: JournalFile
    let number: UInt64?

    /// Reads the header. The sequence number in it must be the one in the name.
    func scanner() throws(JournalError) -> JournalScanner {
      let scanner = try JournalScanner(JournalWindow(file))
      if let number, scanner.header.first != number {
        throw .misplaced(path: file.path, expected: number, given: scanner.header.first)
      }
      return scanner
    }
  }

  /// Opens the first rotated file that begins at or behind a sequence number, otherwise the newest
  /// file.
  ///
  /// Files may be rotated meanwhile, so the newest file is opened before the folder is listed. Files
  /// that were rotated before that are in the list. Files that are removed meanwhile are passed
  /// over.
  static func open(_ path: String, from number: UInt64) throws(JournalError) -> Opened {
    while true {
      let newest = try JournalFile(path, O_RDONLY)
      let list = try list(path).filter { $0.first >= number }
      // If it was rotated just now, newer files may follow it.
      guard try newest.isAt(path) else { continue }
      // A file whose process died during its rotation has both names.
      for older in list where try !newest.isAt(older.path) {
        do throws(JournalError) {
          return Opened(file: try JournalFile(older.path, O_RDONLY), number: older.first)
        } catch .system(_, _, ENOENT) {
        }
      }
      return Opened(file: newest, number: nil)
    }
  }
}
