// SPDX-License-Identifier: Apache-2.0
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
/// A journal's rotated files are read first. All bytes are untrusted: each record is compared with
/// its checksum, and each length with the file and with limits. A reader can follow a journal that
/// is being written: ``next()`` returns nil at the end, and continues once there is more. A reader
/// belongs to one task at a time.
public final class JournalReader {
  /// The path of the journal's newest file.
  public let path: String
  /// The scanner of the current file.
  private(set) var scanner: JournalScanner
  /// The number of files that were read before the current one.
  private(set) var file = 0
  private var current: JournalFile?
  /// The files of the folder, as far as they were listed.
  private var listing: JournalListing
  /// The size of the files that were read before, in bytes.
  private var behind = 0

  /// Whether a replay is reading. A record that other code took meanwhile would be missing there.
  var isReplaying = false

  /// The payload limit of the calls. A longer call is refused before it is read.
  var limit = ReadingLimit() { didSet { scanner.limit = limit } }

  /// The size of all files of a journal, in bytes.
  ///
  /// - Throws: ``JournalError/system(_:path:code:)`` if a file cannot be opened;
  ///   ``JournalError/misplaced(path:expected:given:)`` if a rotated file has the name of another
  ///   one.
  public static func size(of path: String) throws(JournalError) -> Int {
    let path = JournalFiles.file(path)
    let listing = try JournalListing(of: path)
    var size = try listing.newest?.0.size ?? 0
    for older in listing.older { size += try JournalFile(older.path, for: .reading).size }
    return size
  }

  /// Opens a journal for reading.
  ///
  /// - Parameters:
  ///   - path: the journal's file.
  ///   - includingOlder: whether the rotated files are read as well.
  /// - Throws: ``JournalError/system(_:path:code:)`` if a file cannot be opened; ``JournalError``
  ///   if the first one does not begin as a journal, or a rotated file has the name of another one.
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

  /// Reads a journal from memory.
  ///
  /// - Throws: ``JournalError`` if the bytes do not begin as a journal.
  public convenience init(_ bytes: [UInt8]) throws(JournalError) {
    let scanner = try JournalScanner(JournalWindow(bytes), path: "bytes")
    self.init(JournalListing(unread: "bytes"), scanner, nil)
  }

  private init(_ listing: JournalListing, _ scanner: JournalScanner, _ file: JournalFile?) {
    path = listing.path
    (self.listing, self.scanner, current) = (listing, scanner, file)
  }

  /// Reads the next call.
  ///
  /// - Returns: nil at the end.
  /// - Throws: ``JournalError/damaged(offset:resumes:)``,
  ///   ``JournalError/missing(offset:expected:given:)``, ``JournalError/malformed(offset:_:)`` or
  ///   another error if the next record cannot be read; ``JournalError/inUse(path:)`` if called
  ///   while a value of a record is being read, or during a replay.
  public func next() throws(JournalError) -> JournalRecord? {
    if isReplaying { throw .inUse(path: path) }
    guard let frame = try nextFrame() else { return nil }
    return try JournalRecord(frame, in: scanner)
  }

  func nextFrame() throws(JournalError) -> JournalFrame? {
    // A value that is being decoded may refer to this reader and ask it for the next record.
    if scanner.window.isLent { throw .inUse(path: path) }
    while true {
      if let frame = try scanner.nextCall() { return frame }
      guard let current,
        let (file, following) = try listing.following(
          current, from: scanner.header.first, endingBefore: scanner.next)
      else { return nil }
      // A rotated file gets no more records, but the last one may have been written just before the
      // rotation.
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
    // The file that was read may have been replaced by a compaction, and not rotated.
    try following.skip(below: scanner.next)
    behind += scanner.offset
    scanner = following
    current = file
    self.file += 1
  }

  /// Moves back before a call that was read.
  func unread(_ frame: JournalFrame) { scanner.unread(frame) }

  /// Returns a second reader at the same position.
  func ahead() throws(JournalError) -> JournalReader {
    JournalReader(listing, scanner.copy(), current)
  }

  /// The offset of the next record in the current file.
  public var offset: Int { scanner.offset }
  /// The current size of that file, in bytes; ``offset`` if the system does not tell it.
  public var size: Int { (try? scanner.window.size) ?? offset }
  /// The number of bytes read, over all files.
  public var bytesRead: Int { behind + offset }
  /// The sequence number of the next record.
  public var nextSequence: UInt64 { scanner.next }
  /// The end of the journal, once ``next()`` has returned nil.
  public var tail: JournalTail { scanner.tail }
}
