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
/// Nothing in the file is believed: each record is compared with its checksum, and each length with the file and
/// with limits. It reads files that are being written, too: ``next()`` returns nil at the end, and goes on when there
/// is more. A reader belongs to one task at a time.
public final class JournalReader {
  /// The file.
  public let path: String
  var scanner: JournalScanner

  /// Opens a journal.
  public init(at path: String) throws(JournalError) {
    self.path = path
    scanner = try JournalScanner(JournalWindow(JournalFile(path, for: .reading)), path: path)
  }

  /// Reads the bytes of a journal.
  public init(_ bytes: [UInt8]) throws(JournalError) {
    path = "bytes"
    scanner = try JournalScanner(JournalWindow(bytes), path: path)
  }

  /// The next call; nil at the end.
  public func next() throws(JournalError) -> JournalRecord? {
    guard let frame = try scanner.nextCall() else { return nil }
    return try JournalRecord(frame, in: scanner)
  }

  /// Where the next record begins.
  public var offset: Int { scanner.offset }
  /// How long the file is now.
  public var size: Int { scanner.window.size }
  /// The number that the next record has.
  public var nextSequence: UInt64 { scanner.next }
  /// What the file ends with, after ``next()`` returned nil.
  public var tail: JournalTail { scanner.tail }
}
