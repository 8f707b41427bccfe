import Foundation

/// The files of a journal: the one that is written, and those that were put aside, with the number of their first
/// record in their names.
enum JournalFiles {
  struct Older {
    var path: String
    var first: UInt64
  }

  /// The name of a file that is put aside.
  static func path(of path: String, from first: UInt64) -> String {
    let digits = "\(first)"
    return "\(path).\(String(repeating: "0", count: max(0, 12 - digits.count)))\(digits)"
  }

  /// The files that were put aside, the oldest first.
  static func older(than path: String) throws(JournalError) -> [Older] {
    let url = URL(fileURLWithPath: path)
    let folder = url.deletingLastPathComponent().path
    let prefix = url.lastPathComponent + "."
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let current = try? JournalFile(path, for: .reading)
    return names.compactMap { name -> Older? in
      let digits = name.dropFirst(prefix.count)
      guard name.hasPrefix(prefix), digits.count >= 12, digits.allSatisfy(\.isASCII),
        let first = UInt64(digits)
      else { return nil }
      let older = Older(path: self.path(of: path, from: first), first: first)
      // One that was being put aside when its process died has both names.
      return current?.isAt(older.path) == true ? nil : older
    }.sorted { $0.first < $1.first }
  }

  /// The number that the first record of a new file has.
  static func nextSequence(before path: String) throws(JournalError) -> UInt64 {
    guard let last = try older(than: path).last else { return 1 }
    let file = try JournalFile(last.path, for: .reading)
    let scanner = try JournalScanner(JournalWindow(file), path: last.path)
    while try scanner.nextCall() != nil {}
    return scanner.next
  }

  /// The file that goes on where one ends, if there is one.
  static func file(
    after current: JournalFile, _ next: UInt64, of path: String
  ) throws(JournalError) -> JournalFile? {
    if current.isAt(path) { return nil }
    let following = try older(than: path).first { $0.first >= next && !current.isAt($0.path) }
    return try JournalFile(following?.path ?? path, for: .reading)
  }
}
