// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The files of a journal: the one that is written, which is the newest, and the rotated ones, with
/// the sequence number of their first record in their names.
enum JournalFiles {
  struct Older {
    var path: String
    var first: UInt64

    /// Opens the file. The sequence number in its header must be the one in its name.
    func open() throws(JournalError) -> (JournalFile, JournalScanner) {
      let file = try JournalFile(path, for: .reading)
      let scanner = try JournalScanner(JournalWindow(file), path: path)
      guard scanner.header.first == first else {
        throw .misplaced(path: path, expected: first, given: scanner.header.first)
      }
      return (file, scanner)
    }
  }

  /// Returns a path that stays valid when the process changes its working directory.
  static func absolute(_ path: String) -> String {
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
    let folder = url.deletingLastPathComponent().path
    let names = try JournalFile.names(in: folder)
    return names.compactMap { name -> Older? in
      guard let first = number(of: name, of: url.lastPathComponent) else { return nil }
      return Older(path: self.path(of: path, from: first), first: first)
    }.sorted { $0.first < $1.first }
  }

  /// Whether a path is that of a rotated file of a journal.
  static func isRotated(_ path: String, of journal: String) -> Bool {
    number(of: path, of: journal) != nil
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

  /// Removes the second name of a file whose process died during a rotation. If the folder was
  /// copied at that moment, the second name is a second file with the same bytes, which is removed,
  /// too. A file with other bytes stays.
  static func removeSecondName(
    of file: JournalFile, from first: UInt64, of path: String
  ) throws(JournalError) {
    let aside = self.path(of: path, from: first)
    if try file.isAt(aside) { return JournalFile.remove(aside) }
    guard let copy = try? JournalFile(aside, for: .reading), try file.begins(as: copy) else {
      return
    }
    JournalFile.remove(aside)
  }
}

/// The files of a journal in its folder, in their order.
///
/// Files may be rotated meanwhile, so the newest file is opened before the folder is listed. Files
/// that were rotated before that are in the list. Files that are rotated later are not needed to
/// find the records before the newest file.
struct JournalListing {
  let path: String
  /// The rotated files, the oldest first.
  private(set) var older: [JournalFiles.Older] = []
  private(set) var newest: (JournalFile, Result<JournalScanner, JournalError>)?

  /// Makes a listing without reading the folder.
  init(unread path: String) { self.path = path }

  /// Lists the files. Each rotated file must precede the newest one.
  init(of path: String) throws(JournalError) {
    self.path = path
    while true {
      let file = try JournalFile(path, for: .reading)
      let scanner = Result { () throws(JournalError) in
        try JournalScanner(JournalWindow(file), path: path)
      }
      let list = try JournalFiles.list(path)
      // If it was rotated just now, newer files may follow it.
      guard try file.isAt(path) else { continue }
      newest = (file, scanner)
      // If the newest file cannot be read, the others still can.
      let first = (try? scanner.get())?.header.first ?? .max
      for other in list where other.first >= first {
        // A file whose process died during its rotation has both names.
        if try file.isAt(other.path) { continue }
        _ = try other.open()
        // If the folder was copied at that moment, there are two such files.
        if other.first == first { continue }
        throw .misplaced(path: path, expected: other.first, given: first)
      }
      older = list.filter { $0.first < first }
      return
    }
  }

  /// Opens the oldest file.
  func oldest() throws(JournalError) -> (JournalFile, JournalScanner) {
    if let first = older.first { return try first.open() }
    return try newestFile()
  }

  private func newestFile() throws(JournalError) -> (JournalFile, JournalScanner) {
    guard let newest else { throw .system("opened", path: path, code: 2) }
    return (newest.0, try newest.1.get())
  }

  /// Opens the file that follows `current`.
  ///
  /// - Parameters:
  ///   - current: the file that was read to its end.
  ///   - first: the sequence number of its first record.
  ///   - next: the sequence number after its last record.
  /// - Returns: nil if `current` is the newest file.
  mutating func following(
    _ current: JournalFile, from first: UInt64, endingBefore next: UInt64
  ) throws(JournalError) -> (JournalFile, JournalScanner)? {
    if try current.isAt(path) { return nil }
    if let found = try listed(behind: current, from: first, endingBefore: next) { return found }
    // The folder is listed again only when all listed files have been read.
    self = try JournalListing(of: path)
    if let found = try listed(behind: current, from: first, endingBefore: next) { return found }
    let (file, scanner) = try newestFile()
    // Only a compaction leaves a newest file that begins as the one that was read.
    guard scanner.header.first >= next || scanner.header.first == first else {
      throw .misplaced(path: path, expected: next, given: scanner.header.first)
    }
    return (file, scanner)
  }

  private func listed(
    behind current: JournalFile, from first: UInt64, endingBefore next: UInt64
  ) throws(JournalError) -> (JournalFile, JournalScanner)? {
    var index = self.index(from: first)
    // A file that was compacted before its rotation has the same first sequence number as the file
    // that was read.
    if index < older.count, older[index].first == first {
      if try !current.isAt(older[index].path) { return try older[index].open() }
      index += 1
    }
    guard index < older.count else { return nil }
    let found = try older[index].open()
    // Each file must continue with new records.
    guard older[index].first >= next else {
      throw .misplaced(path: older[index].path, expected: next, given: older[index].first)
    }
    return found
  }

  /// The index of the first file whose first sequence number is not below `first`.
  ///
  /// - Complexity: O(log *n*).
  private func index(from first: UInt64) -> Int {
    var (low, high) = (0, older.count)
    while low < high {
      let middle = (low + high) / 2
      if older[middle].first < first { low = middle + 1 } else { high = middle }
    }
    return low
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
