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
/// A journal's rotated files are read first. All bytes are untrusted. A reader can follow a journal
/// that is being written: ``next()`` returns nil at the end, and continues once there is more. A
/// reader belongs to one task at a time.
public final class JournalReader {
  /// The path of the journal's newest file.
  public let path: String
  /// The scanner of the current file.
  private(set) var scanner: JournalScanner
  /// The sequence number with which the journal began when it was opened.
  let first: UInt64
  /// The current file; nil behind the last file that can be read.
  private var current: JournalFile?
  /// The first sequence number of the last file that was read or left out.
  private var passed: UInt64

  /// Whether a replay is reading. A record that other code took meanwhile would be missing there.
  var isReplaying = false

  /// Opens a journal for reading.
  ///
  /// - Throws: ``JournalError`` if a file cannot be opened, or if the first one does not begin as a
  ///   journal, or has the name of another one.
  public convenience init(at path: String) throws(JournalError) {
    let path = JournalFiles.file(path)
    let oldest = try JournalFiles.open(path, from: 0)
    let scanner = try oldest.scanner()
    self.init(path, scanner, oldest.file, passed: scanner.header.first)
  }

  private init(
    _ path: String, _ scanner: JournalScanner, _ file: JournalFile?, passed: UInt64
  ) {
    (self.path, self.scanner, current) = (path, scanner, file)
    (first, self.passed) = (scanner.header.first, passed)
  }

  /// Returns a second reader at the same position.
  func ahead() -> JournalReader { JournalReader(path, scanner, current, passed: passed) }

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
      if let frame = try scanner.nextFrame() { return frame }
      guard let following = try following() else { return nil }
      // A rotated file gets no more records, but the last one may have been written just before the
      // rotation.
      if let frame = try scanner.nextFrame() { return frame }
      if scanner.torn > 0 { throw .damaged(offset: scanner.offset, resumes: nil) }
      try go(on: following, isSkipping: false)
    }
  }

  /// Moves back before a call that was read.
  func unread(_ frame: JournalFrame) { scanner.unread(frame) }

  /// The file that follows the current one; nil if that is the newest.
  private func following() throws(JournalError) -> JournalFiles.Opened? {
    guard let current, try !current.isAt(path) else { return nil }
    return try JournalFiles.open(path, from: passed + 1)
  }

  private func go(
    on following: JournalFiles.Opened, isSkipping: Bool
  ) throws(JournalError) {
    let scanner = try following.scanner()
    let (expected, given) = (self.scanner.next, scanner.header.first)
    guard given >= expected else {
      throw .misplaced(path: following.file.path, expected: expected, given: given)
    }
    // If the end of the file before was left out, its last numbers are unknown.
    guard isSkipping || self.scanner.canFollow(given, at: self.scanner.offset) else {
      throw .missing(offset: 0, expected: expected, given: given)
    }
    (self.scanner, current, passed) = (scanner, following.file, given)
  }

  /// Moves behind the place at which ``next()`` threw an error, to the next place at which a record
  /// can be.
  ///
  /// The numbers of the records show how many calls are missing. A call whose message was defined
  /// in the bytes that were left out cannot be read either.
  ///
  /// - Returns: the bytes that were left out. The range is empty if a whole file is gone, or the end
  ///   of one. Nil if the next record can be read, and at the end of the journal.
  /// - Throws: ``JournalError/system(_:path:code:)`` if the bytes, the folder or the next file cannot
  ///   be read; ``JournalError/inUse(path:)`` as ``next()``.
  /// - Complexity: O(*n*) in the number of bytes that are left out.
  public func skipDamage() throws(JournalError) -> SkippedBytes? {
    if isReplaying || scanner.window.isLent { throw .inUse(path: path) }
    var isDamaged = false
    do throws(JournalError) {
      if let frame = try nextFrame() {
        unread(frame)
        return nil
      }
    } catch { isDamaged = true }
    let following = try following()
    let file = scanner.window.file
    if try scanner.offset < file.size {
      let bytes = try scanner.skipDamage(toEnd: isDamaged || following != nil)
      return bytes.map { SkippedBytes(path: file.path, bytes: $0) }
    }
    guard let following else { return nil }
    do throws(JournalError) {
      try go(on: following, isSkipping: true)
      return SkippedBytes(path: following.file.path, bytes: 0..<0)
    } catch {
      // A file that cannot be a part of the journal is left out as a whole.
      if let number = following.number { passed = number } else { current = nil }
      return SkippedBytes(path: following.file.path, bytes: 0..<(try following.file.size))
    }
  }

  /// The offset of the next record in the current file.
  public var offset: Int { scanner.offset }
  /// The current size of that file, in bytes; ``offset`` if the system does not tell it.
  public var size: Int { (try? scanner.window.file.size) ?? offset }
  /// The sequence number of the next record.
  public var nextSequence: UInt64 { scanner.next }
  /// How many bytes at the end of the journal are no record, once ``next()`` has returned nil: the
  /// rest of an interrupted write.
  public var torn: Int { scanner.torn }
}

/// Bytes of a journal's file that a reader has left out.
///
/// ```swift
/// func tell(_ skipped: SkippedBytes) { print(skipped) }  // a.journal: 4096 bytes from byte 20480 on could not be read
/// ```
public struct SkippedBytes: Hashable, Sendable, CustomStringConvertible {
  /// The path of the file.
  public let path: String
  /// The offsets of the bytes.
  public let bytes: Range<Int>

  package init(path: String, bytes: Range<Int>) { (self.path, self.bytes) = (path, bytes) }

  public var description: String {
    let file = path.visible
    if bytes.isEmpty { return "\(file): the records before this file are missing" }
    return "\(file): \(bytes.count) bytes from byte \(bytes.lowerBound) on could not be read"
  }
}
