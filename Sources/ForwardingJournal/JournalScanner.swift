// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

/// The header and location of one record.
struct JournalFrame {
  var header: RecordHeader
  /// The offset of the record in the file.
  var offset: Int
  var kind: RecordKind

  /// The offset and the size of the record's contents.
  var contents: Int { offset + JournalFormat.recordSize }
  var count: Int { header.length - JournalFormat.recordSize }
  var end: Int { offset + header.length }
}

/// Finds the records of one file, and trusts none of its bytes.
final class JournalScanner {
  let window: JournalWindow
  let path: String
  let header: JournalHeader
  /// The offset of the next record.
  private(set) var offset = JournalFormat.headerSize
  /// The sequence number of the next record.
  private(set) var next: UInt64
  /// The defined messages, indexed by their numbers.
  private(set) var definitions: [Definition] = []
  var tail = JournalTail.whole
  /// The range that ``end()`` has already searched.
  var searched = Searched()
  /// The bytes of candidates that the search in progress may still checksum.
  var searchBudget = 0
  /// The payload limit of the wanted calls. A longer one ends the reading before its contents are
  /// read.
  var limit = ReadingLimit()

  /// Reads the header of a file.
  init(_ window: JournalWindow, path: String) throws(JournalError) {
    self.window = window
    self.path = path
    let size = JournalFormat.headerSize
    guard try window.load(size, at: 0) else { throw .notAJournal(path: path) }
    let checksum = window.checksum(size - 4, at: 0)
    let read:
      (magic: [UInt8], version: UInt16, flags: UInt16, header: JournalHeader, checksum: UInt32)
    do throws(WireError) {
      read = try window.read(size, at: 0) {
        (reader) throws(WireError) -> ([UInt8], UInt16, UInt16, JournalHeader, UInt32) in
        let magic = try reader.bytes(8)
        let version = try reader.uint16()
        let flags = try reader.uint16()
        let header = try JournalHeader(
          first: reader.uint64(), time: Int64(bitPattern: reader.uint64()),
          isCompacted: flags & 1 != 0, tellsUnsynced: flags & 2 != 0)
        return try (magic, version, flags, header, reader.uint32())
      }
    } catch {
      throw .notAJournal(path: path)
    }
    guard read.magic == JournalFormat.magic else { throw .notAJournal(path: path) }
    guard read.version <= JournalFormat.version else {
      throw .newerVersion(
        path: path, known: Int(JournalFormat.version), given: Int(read.version))
    }
    guard read.checksum == checksum, read.version > 0 else { throw .notAJournal(path: path) }
    guard read.flags & ~JournalHeader.knownFlags == 0 else {
      throw .unknownFlags(path: path, flags: read.flags & ~JournalHeader.knownFlags)
    }
    guard read.header.first < JournalFormat.numbers else {
      throw .tooLarge(read.header.first, offset: 0, at: 12)
    }
    header = read.header
    next = header.first
  }

  /// Returns a scanner at the same position.
  func copy() -> JournalScanner { JournalScanner(of: self) }

  private init(of other: JournalScanner) {
    (window, path, header) = (other.window, other.path, other.header)
    (offset, next, definitions) = (other.offset, other.next, other.definitions)
    limit = other.limit
  }

  /// Returns the next call or outcome; nil at the end. Definitions on the way are stored.
  func nextCall() throws(JournalError) -> JournalFrame? {
    var (before, known) = (offset, definitions.count)
    while let frame = try nextFrame() {
      switch frame.kind {
      case .call, .outcome: return frame
      case .mark: (before, known) = (offset, definitions.count)
      case .definition: try define(frame)
      }
    }
    // A definition and its call are written at once. A definition without its call belongs to an
    // interrupted write.
    if definitions.count > known {
      tail = .torn(offset: before, bytes: try max(window.size, offset) - before)
      offset = before
      definitions.removeSubrange(known...)
    }
    return nil
  }

  /// Moves back before a call, so that it is read again.
  func unread(_ frame: JournalFrame) { (offset, next) = (frame.offset, frame.header.sequence) }

  /// Skips calls with sequence numbers below `wanted`.
  ///
  /// - Throws: ``JournalError/missing(offset:expected:given:)`` if the file ends before `wanted`:
  ///   then it is not the file that was read before.
  func skip(below wanted: UInt64) throws(JournalError) {
    while next < wanted {
      let (before, number, known) = (offset, next, definitions.count)
      guard let frame = try nextCall() else {
        guard next >= wanted else { throw .missing(offset: offset, expected: wanted, given: next) }
        return
      }
      guard frame.header.sequence >= wanted else { continue }
      (offset, next) = (before, number)
      definitions.removeSubrange(known...)
      return
    }
  }

  private func define(_ frame: JournalFrame) throws(JournalError) {
    guard definitions.count < JournalFormat.maximumDefinitions else {
      throw .tooManyMessages(limit: JournalFormat.maximumDefinitions)
    }
    guard Int(frame.header.message) == definitions.count else {
      throw .malformed(
        offset: frame.offset,
        WireError(
          .value(
            type: "a definition",
            "its number is \(frame.header.message), but \(definitions.count) is next"),
          at: 24))
    }
    definitions.append(
      try contents(of: frame) { (reader) throws(WireError) in try Definition(from: &reader) })
  }

  /// Reads the contents of a record.
  func contents<Result>(
    of frame: JournalFrame, _ body: (inout WireReader) throws(WireError) -> Result
  ) throws(JournalError) -> Result {
    let isThere = try window.load(frame.count, at: frame.contents)
    do throws(WireError) {
      guard isThere else { throw WireError(.tooShort(expected: frame.count, given: 0), at: 0) }
      return try window.read(frame.count, at: frame.contents, body)
    } catch {
      throw .malformed(offset: frame.offset, error)
    }
  }

  /// Returns the next record of any kind.
  @inline(__always)
  func nextFrame() throws(JournalError) -> JournalFrame? {
    while true {
      guard let found = try wholeHeader(at: offset) else { return try end() }
      guard found.sequence < JournalFormat.numbers else {
        throw .tooLarge(found.sequence, offset: offset, at: 8)
      }
      guard found.sequence == next || (found.sequence > next && header.isCompacted) else {
        throw .missing(offset: offset, expected: next, given: found.sequence)
      }
      guard let kind = RecordKind(rawValue: found.kind), found.flags == 0 || header.tellsUnsynced
      else {
        guard found.kind >= RecordKind.firstOptional else {
          throw .unknownKind(offset: offset, kind: found.kind)
        }
        offset += found.length
        continue
      }
      if kind != .definition, Int(found.message) >= definitions.count, kind != .mark {
        throw .malformed(
          offset: offset,
          WireError(
            .value(type: "a call", "message \(found.message) is not defined"), at: 24))
      }
      let frame = JournalFrame(header: found, offset: offset, kind: kind)
      offset += found.length
      if kind != .definition { next = found.sequence + 1 }
      tail = .whole
      return frame
    }
  }

  /// Returns the header at an offset if the record is whole and its checksums match.
  @inline(__always)
  func wholeHeader(at offset: Int) throws(JournalError) -> RecordHeader? {
    guard let header = try window.headerAlone(at: offset) else { return nil }
    // A record that extends beyond the file is torn, and not refused for its length.
    if header.length - JournalFormat.recordSize > limit.bytes, limit.wants(header),
      try offset + header.length <= window.size
    {
      try refuse(header, at: offset)
    }
    return try window.isWhole(header, at: offset) ? header : nil
  }

  /// Refuses a record that is longer than allowed, by its header alone. A definition may be as long
  /// as its three lengths permit.
  private func refuse(_ header: RecordHeader, at offset: Int) throws(JournalError) {
    let isCall = [.call, .outcome].contains(RecordKind(rawValue: header.kind))
    let most = isCall ? limit.bytes : max(limit.bytes, 6 + 3 * Int(UInt16.max))
    let given = header.length - JournalFormat.recordSize
    guard given > most else { return }
    throw .malformed(offset: offset, WireError(.limit(most, given: given), at: 4))
  }
}
