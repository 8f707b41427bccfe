import Foundation

/// The files of a journal: the one that is written, and those that were put aside, with the number of their first
/// record in their names.
///
/// Files may be put aside while they are listed. So the newest one is opened first: what was put aside before that is
/// in a list that is made then, and what is put aside later is not needed to find what is in front of it.
enum JournalFiles {
  struct Older {
    var path: String
    var first: UInt64
  }

  /// A path that leads to the same file when the process goes to another folder.
  static func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
  }

  /// The name of a file that is put aside.
  static func path(of path: String, from first: UInt64) -> String {
    let digits = "\(first)"
    return "\(path).\(String(repeating: "0", count: max(0, 12 - digits.count)))\(digits)"
  }

  /// The files that have names of such as were put aside, the oldest first.
  private static func list(_ path: String) -> [Older] {
    let url = URL(fileURLWithPath: path)
    let prefix = url.lastPathComponent + "."
    let folder = url.deletingLastPathComponent().path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.compactMap { name -> Older? in
      guard name.hasPrefix(prefix), let first = UInt64(name.dropFirst(prefix.count)),
        name == self.path(of: url.lastPathComponent, from: first)
      else { return nil }
      return Older(path: self.path(of: path, from: first), first: first)
    }.sorted { $0.first < $1.first }
  }

  /// The files that were put aside.
  static func older(than path: String) -> [Older] {
    let current = try? JournalFile(path, for: .reading)
    // One that was being put aside when its process died has both names.
    return list(path).filter { current?.isAt($0.path) != true }
  }

  /// Opens the oldest file, and its scanner.
  static func oldest(
    of path: String
  ) throws(JournalError) -> (JournalFile, JournalScanner) {
    let newest = try JournalFile(path, for: .reading)
    let scanner = Result { () throws(JournalError) in
      try JournalScanner(JournalWindow(newest), path: path)
    }
    // Where the newest cannot be read, the others can.
    let first = (try? scanner.get())?.header.first ?? .max
    guard let oldest = list(path).first, oldest.first < first, !newest.isAt(oldest.path) else {
      return (newest, try scanner.get())
    }
    let file = try JournalFile(oldest.path, for: .reading)
    return (file, try JournalScanner(JournalWindow(file), path: oldest.path))
  }

  /// The number that the first record of a new file has.
  static func nextSequence(before path: String) throws(JournalError) -> UInt64 {
    guard let last = older(than: path).last else { return 1 }
    let file = try JournalFile(last.path, for: .reading)
    let scanner = try JournalScanner(JournalWindow(file), path: last.path)
    while try scanner.nextCall() != nil {}
    // Whoever put it aside had waited for its end: nobody could read on behind what is missing.
    if case .torn(let offset, _) = scanner.tail { throw .damaged(offset: offset, resumes: nil) }
    return scanner.next
  }

  /// The file that has a record, if `current`, whose first record is `first`, is the newest no more. If there is none
  /// with it, the next one.
  static func file(
    after current: JournalFile, from first: UInt64, with next: UInt64, of path: String
  ) throws(JournalError) -> JournalFile? {
    if current.isAt(path) { return nil }
    let newest = try JournalFile(path, for: .reading)
    let end = try JournalScanner(JournalWindow(newest), path: path).header.first
    if end <= next { return newest }
    // One that was made smaller before it was put aside has the same first record as the one that was read.
    let between = list(path).filter {
      $0.first >= first && $0.first < end && !current.isAt($0.path)
    }
    let following = between.last { $0.first <= next } ?? between.first
    return try following.map { (file) throws(JournalError) in
      try JournalFile(file.path, for: .reading)
    } ?? newest
  }

  /// Takes the second name from a file that was being put aside when its process died.
  static func removeSecondName(of file: JournalFile, from first: UInt64, of path: String) {
    let aside = self.path(of: path, from: first)
    if file.isAt(aside) { JournalFile.remove(aside) }
  }
}

extension JournalFile {
  /// The process that holds the file's lock, as the list of the system tells.
  var holder: Int32? {
    holder(in: (try? String(contentsOfFile: "/proc/locks", encoding: .utf8)) ?? "")
  }

  /// The same, of a list. Numbers of files are those of one file system each, whose own numbers are in front; nobody
  /// is named where a file system has other numbers there than in what it tells of its files.
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
