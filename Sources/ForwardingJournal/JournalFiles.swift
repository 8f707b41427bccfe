import Foundation

/// The files of a journal: the one that is written, which is the newest, and those that were put aside, with the
/// number of their first record in their names.
enum JournalFiles {
  struct Older {
    var path: String
    var first: UInt64

    /// Opens the file, whose beginning must say the same number as its name.
    func open() throws(JournalError) -> (JournalFile, JournalScanner) {
      let file = try JournalFile(path, for: .reading)
      let scanner = try JournalScanner(JournalWindow(file), path: path)
      guard scanner.header.first == first else {
        throw .misplaced(path: path, expected: first, given: scanner.header.first)
      }
      return (file, scanner)
    }
  }

  /// A path that leads to the same file when the process goes to another folder.
  static func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
  }

  /// The whole path of a journal's file. A symbolic link is followed: files that are put aside lie beside the file, and
  /// the one that takes its place must not take that of the link.
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

  /// The name of a file that is put aside.
  static func path(of path: String, from first: UInt64) -> String {
    let digits = "\(first)"
    return "\(path).\(String(repeating: "0", count: max(0, 12 - digits.count)))\(digits)"
  }

  /// The files that have names of such as were put aside, the oldest first.
  static func list(_ path: String) throws(JournalError) -> [Older] {
    let url = URL(fileURLWithPath: path)
    let prefix = url.lastPathComponent + "."
    let folder = url.deletingLastPathComponent().path
    let names = try JournalFile.names(in: folder)
    return names.compactMap { name -> Older? in
      guard name.hasPrefix(prefix), let first = UInt64(name.dropFirst(prefix.count)),
        name == self.path(of: url.lastPathComponent, from: first)
      else { return nil }
      return Older(path: self.path(of: path, from: first), first: first)
    }.sorted { $0.first < $1.first }
  }

  /// The number that the first record of a new file has.
  static func nextSequence(before path: String) throws(JournalError) -> UInt64 {
    guard let last = try list(path).last else { return 1 }
    let (_, scanner) = try last.open()
    while try scanner.nextCall() != nil {}
    // It was put aside when its end was on the disk: behind what is missing nothing could be read.
    if case .torn(let offset, _) = scanner.tail { throw .damaged(offset: offset, resumes: nil) }
    return scanner.next
  }

  /// Takes the second name from a file that was being put aside when its process died, also where its folder was
  /// copied then, so that there are two files of the same bytes. A file with other bytes stays.
  static func removeSecondName(
    of file: JournalFile, from first: UInt64, of path: String
  ) throws(JournalError) {
    let aside = self.path(of: path, from: first)
    if file.isAt(aside) { return JournalFile.remove(aside) }
    guard let copy = try? JournalFile(aside, for: .reading), try file.begins(as: copy) else {
      return
    }
    JournalFile.remove(aside)
  }
}

/// The files of a journal as they are found in its folder, in their order.
///
/// Files may be put aside meanwhile. So the newest one is opened first: the files that were put aside before that are
/// in the list, and those that are put aside later are not needed to find what is in front of it.
struct JournalListing {
  let path: String
  /// The files that were put aside, the oldest first.
  private(set) var older: [JournalFiles.Older] = []
  private(set) var newest: (JournalFile, Result<JournalScanner, JournalError>)?

  /// A list that knows of no file yet.
  init(unread path: String) { self.path = path }

  /// Lists the files. Each that was put aside must be in front of the newest one.
  init(of path: String) throws(JournalError) {
    self.path = path
    while true {
      let file = try JournalFile(path, for: .reading)
      let scanner = Result { () throws(JournalError) in
        try JournalScanner(JournalWindow(file), path: path)
      }
      let list = try JournalFiles.list(path)
      // If it has been put aside just now, others may be behind it.
      guard file.isAt(path) else { continue }
      newest = (file, scanner)
      // Where the newest cannot be read, the others can.
      let first = (try? scanner.get())?.header.first ?? .max
      for other in list where other.first >= first {
        // One that was being put aside when its process died has both names.
        if file.isAt(other.path) { continue }
        _ = try other.open()
        // Where its folder was copied at that moment, there are two files.
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

  /// Opens the file behind `current`, whose first record is `first` and which ends in front of record `next`; nil if
  /// `current` is the newest.
  mutating func following(
    _ current: JournalFile, from first: UInt64, endingBefore next: UInt64
  ) throws(JournalError) -> (JournalFile, JournalScanner)? {
    if current.isAt(path) { return nil }
    if let found = try listed(behind: current, from: first, endingBefore: next) { return found }
    // What is in the list was read: a folder is listed once for all files in it.
    self = try JournalListing(of: path)
    if let found = try listed(behind: current, from: first, endingBefore: next) { return found }
    let (file, scanner) = try newestFile()
    guard scanner.header.first >= first else {
      throw .misplaced(path: path, expected: next, given: scanner.header.first)
    }
    return (file, scanner)
  }

  private func listed(
    behind current: JournalFile, from first: UInt64, endingBefore next: UInt64
  ) throws(JournalError) -> (JournalFile, JournalScanner)? {
    var index = self.index(from: first)
    // One that was made smaller before it was put aside has the same first record as the one that was read.
    if index < older.count, older[index].first == first {
      if !current.isAt(older[index].path) { return try older[index].open() }
      index += 1
    }
    guard index < older.count else { return nil }
    let found = try older[index].open()
    // Each file brings new records.
    guard older[index].first >= next else {
      throw .misplaced(path: older[index].path, expected: next, given: older[index].first)
    }
    return found
  }

  /// The place of the first file whose records do not begin before one.
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
