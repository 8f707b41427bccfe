// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The files of a journal: the one that is written, which is the newest, and the rotated ones, with
/// the sequence number of their first record in their names.
enum JournalFiles {
  struct Older {
    var path: String
    var first: UInt64
  }

  /// The longest name of a journal's file: a rotated one has up to 21 bytes more.
  static let longestName = 255 - 21

  /// Returns a path that stays valid when the process changes its working directory.
  private static func absolute(_ path: String) -> String {
    let folder = FileManager.default.currentDirectoryPath
    // A removed folder has no path.
    return path.hasPrefix("/") || folder.isEmpty ? path : folder + "/" + path
  }

  /// Returns the absolute path of a journal's file. Symbolic links are followed: rotated files lie
  /// beside the file, and a replacing file must not replace the link.
  static func file(_ path: String) -> String {
    var path = absolute(path)
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
}

/// The files of a journal in its folder that are still to be read, in their order.
///
/// Files may be rotated meanwhile, so the newest file is opened before the folder is listed. Files
/// that were rotated before that are in the list. Files that are rotated later are not needed to
/// find the records before the newest file.
struct JournalListing {
  let path: String
  /// The rotated files, the oldest first.
  private var older: ArraySlice<JournalFiles.Older> = []
  private var newest: JournalFile?

  /// Makes a listing without reading the folder.
  init(unread path: String) { self.path = path }

  /// A file, and the sequence number in its name; nil for the newest.
  struct Opened {
    let path: String
    let file: JournalFile
    let number: UInt64?

    /// Reads the header. The sequence number in it must be the one in the name.
    func scanner() throws(JournalError) -> JournalScanner {
      let scanner = try JournalScanner(JournalWindow(file), path: path)
      if let number, scanner.header.first != number {
        throw .misplaced(path: path, expected: number, given: scanner.header.first)
      }
      return scanner
    }
  }

  /// Lists the files.
  mutating func read() throws(JournalError) {
    while true {
      let file = try JournalFile(path, for: .reading)
      var list = try JournalFiles.list(path)
      // If it was rotated just now, newer files may follow it.
      guard try file.isAt(path) else { continue }
      // A file whose process died during its rotation has both names.
      if let last = list.last, try file.isAt(last.path) { list.removeLast() }
      (older, newest) = (list[...], file)
      return
    }
  }

  /// Opens the oldest file.
  mutating func oldest() throws(JournalError) -> Opened {
    if let file = try open(from: 0) { return file }
    let file = if let newest { newest } else { try JournalFile(path, for: .reading) }
    return Opened(path: path, file: file, number: nil)
  }

  /// Opens the file that follows the one that was read to its end.
  ///
  /// - Parameters:
  ///   - current: the file that was read.
  ///   - number: the sequence number of its first record.
  /// - Returns: nil if `current` is the newest file.
  mutating func following(
    _ current: JournalFile, behind number: UInt64
  ) throws(JournalError) -> Opened? {
    if try current.isAt(path) { return nil }
    if let file = try open(from: number + 1) { return file }
    // The folder is listed again only when all listed files have been read.
    try read()
    if let file = try open(from: number + 1) { return file }
    return newest.map { Opened(path: path, file: $0, number: nil) }
  }

  /// Opens the first rotated file that begins at or behind a sequence number. Files that were removed
  /// since they were listed are passed over.
  private mutating func open(from number: UInt64) throws(JournalError) -> Opened? {
    while let next = older.first {
      if next.first >= number {
        do throws(JournalError) {
          let file = try JournalFile(next.path, for: .reading)
          return Opened(path: next.path, file: file, number: next.first)
        } catch {
          guard case .system(_, _, ENOENT) = error else { throw error }
        }
      }
      older.removeFirst()
    }
    return nil
  }
}

extension JournalFile {
  /// The process that holds the file's lock, according to `/proc/locks`.
  var holder: Int32? {
    holder(in: (try? String(contentsOfFile: "/proc/locks", encoding: .utf8)) ?? "")
  }

  /// Finds the process that holds the file's lock in a list of locks. An inode number is unique in
  /// its file system only, so the device numbers are compared as well. Nil on a file system that
  /// reports other device numbers in the list than for its files.
  func holder(in list: String) -> Int32? {
    for line in list.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 5, words[1] == "FLOCK" else { continue }
      let place = words[5].split(separator: ":")
      guard place.count == 3, UInt32(place[0], radix: 16) == device.major,
        UInt32(place[1], radix: 16) == device.minor, UInt64(place[2]) == number
      else { continue }
      return Int32(words[4])
    }
    return nil
  }
}
