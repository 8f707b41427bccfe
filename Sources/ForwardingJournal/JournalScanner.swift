import ForwardingWire

/// One record where it lies.
struct JournalFrame {
  var header: RecordHeader
  /// Where it begins in the file.
  var offset: Int
  var kind: RecordKind

  /// Where what it holds begins, and how many bytes that is.
  var contents: Int { offset + JournalFormat.recordSize }
  var count: Int { header.length - JournalFormat.recordSize }
  var end: Int { offset + header.length }
}

/// Finds the records of one file, and believes none of its bytes.
final class JournalScanner {
  let window: JournalWindow
  let path: String
  let header: JournalHeader
  /// Where the next record begins.
  private(set) var offset = JournalFormat.headerSize
  /// The number that the next record has.
  private(set) var next: UInt64
  /// The messages, in the order of their numbers.
  private(set) var definitions: [Definition] = []
  var tail = JournalTail.whole
  /// What ``end()`` has searched already.
  var searched = Searched()
  /// What a call may hold that is wanted. One with more ends the reading before that is read.
  var limit = ReadingLimit()

  /// Reads the beginning of a file.
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

  /// One that is where this one is.
  func copy() -> JournalScanner { JournalScanner(of: self) }

  private init(of other: JournalScanner) {
    (window, path, header) = (other.window, other.path, other.header)
    (offset, next, definitions) = (other.offset, other.next, other.definitions)
    limit = other.limit
  }

  /// The next call, or what became of one; nil at the end. Definitions are taken in on the way.
  func nextCall() throws(JournalError) -> JournalFrame? {
    var (before, known) = (offset, definitions.count)
    while let frame = try nextFrame() {
      switch frame.kind {
      case .call, .outcome: return frame
      case .mark: (before, known) = (offset, definitions.count)
      case .definition: try define(frame)
      }
    }
    // A definition is written with its call: without it, it is a part of a write that did not come to its end.
    if definitions.count > known {
      tail = .torn(offset: before, bytes: max(window.size, offset) - before)
      offset = before
      definitions.removeSubrange(known...)
    }
    return nil
  }

  /// Goes back in front of a call that was read, which is read again then.
  func unread(_ frame: JournalFrame) { (offset, next) = (frame.offset, frame.header.sequence) }

  /// Passes over calls whose numbers are below one. The file must go on to it: another one took the place of what was
  /// read otherwise.
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

  /// Reads what a record holds, which is in memory.
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

  /// The next record of any kind.
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

  /// The header of a whole record at an offset, whose checksums are right.
  @inline(__always)
  func wholeHeader(at offset: Int) throws(JournalError) -> RecordHeader? {
    guard let header = try window.headerAlone(at: offset) else { return nil }
    // What is not there is torn, however long it would be.
    if header.length - JournalFormat.recordSize > limit.bytes, limit.wants(header),
      offset + header.length <= window.size
    {
      try refuse(header, at: offset)
    }
    return try window.isWhole(header, at: offset) ? header : nil
  }

  /// Refuses what is longer than it may be, by its header alone. A definition may be as long as its lengths say.
  private func refuse(_ header: RecordHeader, at offset: Int) throws(JournalError) {
    let isCall = [.call, .outcome].contains(RecordKind(rawValue: header.kind))
    let most = isCall ? limit.bytes : max(limit.bytes, 6 + 3 * Int(UInt16.max))
    let given = header.length - JournalFormat.recordSize
    guard given > most else { return }
    throw .malformed(offset: offset, WireError(.limit(most, given: given), at: 4))
  }
}
