import ForwardingWire

/// Reads a journal, from its first record to its last.
///
/// ```swift
/// func count(_ path: String) throws -> Int {
///   let reader = try JournalReader(at: path)
///   var count = 0
///   while try reader.next() != nil { count += 1 }
///   return count
/// }
/// ```
///
/// The files that a journal was put aside into are read first. Nothing in a file is believed: each record is compared
/// with its checksum, and each length with the file and with limits. It reads files that are being written, too:
/// ``next()`` returns nil at the end, and goes on when there is more. A reader belongs to one task at a time.
public final class JournalReader {
  /// The journal's file, which is the newest.
  public let path: String
  /// Reads the file that is read now.
  private(set) var scanner: JournalScanner
  /// How many files were read before.
  private(set) var file = 0
  private var current: JournalFile?
  /// The files of its folder, as far as they were asked for.
  private var listing: JournalListing
  /// How long the files are that were read before.
  private var behind = 0

  /// What calls may hold; more is refused before it is read.
  var limit = ReadingLimit() { didSet { scanner.limit = limit } }

  /// How long the files of a journal are together.
  public static func size(of path: String) throws(JournalError) -> Int {
    let path = JournalFiles.file(path)
    let listing = try JournalListing(of: path)
    var size = listing.newest?.0.size ?? 0
    for older in listing.older { size += try JournalFile(older.path, for: .reading).size }
    return size
  }

  /// Opens a journal, with the files that were put aside, or this one alone.
  public convenience init(at path: String, includingOlder: Bool = true) throws(JournalError) {
    let path = JournalFiles.file(path)
    if includingOlder {
      let listing = try JournalListing(of: path)
      let (file, scanner) = try listing.oldest()
      self.init(listing, scanner, file)
    } else {
      let file = try JournalFile(path, for: .reading)
      let scanner = try JournalScanner(JournalWindow(file), path: path)
      self.init(JournalListing(unread: path), scanner, file)
    }
  }

  /// Reads the bytes of a journal.
  public convenience init(_ bytes: [UInt8]) throws(JournalError) {
    let scanner = try JournalScanner(JournalWindow(bytes), path: "bytes")
    self.init(JournalListing(unread: "bytes"), scanner, nil)
  }

  private init(_ listing: JournalListing, _ scanner: JournalScanner, _ file: JournalFile?) {
    path = listing.path
    (self.listing, self.scanner, current) = (listing, scanner, file)
  }

  /// The next call; nil at the end.
  public func next() throws(JournalError) -> JournalRecord? {
    guard let frame = try nextFrame() else { return nil }
    return try JournalRecord(frame, in: scanner)
  }

  func nextFrame() throws(JournalError) -> JournalFrame? {
    // A value of a record may know the reader, and ask it for more while it is being read.
    if scanner.window.isLent { throw .inUse(path: path) }
    while true {
      if let frame = try scanner.nextCall() { return frame }
      guard let current,
        let (file, following) = try listing.following(
          current, from: scanner.header.first, endingBefore: scanner.next)
      else { return nil }
      // Once the file is put aside nothing is written to it, but that may have happened just now.
      if let frame = try scanner.nextCall() { return frame }
      if case .torn(let offset, _) = scanner.tail { throw .damaged(offset: offset, resumes: nil) }
      try go(on: following, of: file)
    }
  }

  private func go(
    on following: JournalScanner, of file: JournalFile
  ) throws(JournalError) {
    guard following.header.first <= scanner.next else {
      throw .missing(offset: 0, expected: scanner.next, given: following.header.first)
    }
    following.limit = limit
    // The file that was read may have been made smaller, and not put aside.
    try following.skip(below: scanner.next)
    behind += scanner.offset
    scanner = following
    current = file
    self.file += 1
  }

  /// Goes back in front of a call that was read.
  func unread(_ frame: JournalFrame) { scanner.unread(frame) }

  /// A reader that is where this one is.
  func ahead() throws(JournalError) -> JournalReader {
    JournalReader(listing, scanner.copy(), current)
  }

  /// Where the next record begins, in the file that is read now.
  public var offset: Int { scanner.offset }
  /// How long that file is now.
  public var size: Int { scanner.window.size }
  /// How many bytes were read, of all files.
  public var bytesRead: Int { behind + offset }
  /// The number that the next record has.
  public var nextSequence: UInt64 { scanner.next }
  /// What the journal ends with, after ``next()`` returned nil.
  public var tail: JournalTail { scanner.tail }
}
