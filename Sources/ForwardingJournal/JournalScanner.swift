// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

/// The header and location of one record.
struct JournalFrame {
  var header: RecordHeader
  /// The offset of the record in the file.
  var offset: Int
  /// The offset of the call's arguments, behind the definition of the message if there is one.
  var arguments: Int

  var end: Int { offset + header.length }
  /// The size of the arguments.
  var count: Int { end - arguments }
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
  /// The defined messages, indexed by their numbers; nil where a definition was left out.
  private(set) var definitions: [Definition?] = []
  var tail = JournalTail.whole
  /// The bytes that were left out since the last record, and whether any were left out before.
  private(set) var leftOut = 0
  private(set) var hasSkipped = false
  /// The bytes of candidates that may still be checksummed.
  var searchBudget = 0

  /// Reads the header of a file.
  init(_ window: JournalWindow, path: String) throws(JournalError) {
    self.window = window
    self.path = path
    let size = JournalFormat.headerSize
    guard try window.load(size, at: 0),
      let header = try? window.read(
        size, at: 0, { (reader) throws(WireError) in try JournalHeader(from: &reader) }),
      header.magic == JournalFormat.magic
    else { throw .notAJournal(path: path) }
    guard header.version == JournalFormat.version else {
      throw .otherVersion(
        path: path, known: Int(JournalFormat.version), given: Int(header.version))
    }
    guard header.checksum == window.checksum(size - 4, at: 0) else {
      throw .notAJournal(path: path)
    }
    guard header.first < JournalFormat.numbers else {
      throw .tooLarge(header.first, offset: 0, at: 12)
    }
    self.header = header
    next = header.first
  }

  /// Returns a scanner at the same position.
  func copy() -> JournalScanner { JournalScanner(of: self) }

  private init(of other: JournalScanner) {
    (window, path, header) = (other.window, other.path, other.header)
    (offset, next, definitions) = (other.offset, other.next, other.definitions)
    (leftOut, hasSkipped) = (other.leftOut, other.hasSkipped)
  }

  /// Returns the next record; nil at the end.
  @inline(__always)
  func nextFrame() throws(JournalError) -> JournalFrame? {
    guard let found = try wholeHeader(at: offset) else { return try end() }
    guard found.sequence < JournalFormat.numbers else {
      throw .tooLarge(found.sequence, offset: offset, at: 8)
    }
    guard canFollow(found.sequence, at: offset) else {
      throw .missing(offset: offset, expected: next, given: found.sequence)
    }
    let frame = JournalFrame(
      header: found, offset: offset, arguments: try arguments(of: found, at: offset))
    (offset, next) = (frame.end, found.sequence + 1)
    (tail, leftOut) = (.whole, 0)
    return frame
  }

  /// Moves back before a call, so that it is read again.
  func unread(_ frame: JournalFrame) { (offset, next) = (frame.offset, frame.header.sequence) }

  /// Whether a record can be the next one at an offset. Numbers may be missing only if the bytes
  /// between had room for their records.
  func canFollow(_ sequence: UInt64, at place: Int) -> Bool {
    let most = (leftOut + place - offset) / JournalFormat.recordSize
    return sequence >= next && sequence - next <= UInt64(most)
  }

  /// Returns the offset of a record's arguments, after storing the definition in front of them.
  @inline(__always)
  private func arguments(of header: RecordHeader, at offset: Int) throws(JournalError) -> Int {
    let (start, number) = (offset + JournalFormat.recordSize, Int(header.message))
    switch RecordKind(rawValue: header.kind) {
    case .call:
      guard number < definitions.count, definitions[number] != nil else {
        throw malformed("a call", "message \(number) is not defined", at: offset)
      }
      return start
    case .defining: return start + (try define(number, at: offset, header.length))
    case nil: throw malformed("a record", "it has kind \(header.kind)", at: offset)
    }
  }

  private func malformed(_ type: String, _ what: String, at offset: Int) -> JournalError {
    .malformed(offset: offset, WireError(.value(type: type, what), at: 24))
  }

  /// Stores the definition in a record. Returns its size.
  private func define(_ number: Int, at offset: Int, _ length: Int) throws(JournalError) -> Int {
    let start = offset + JournalFormat.recordSize
    let (definition, size) = try contents(start..<offset + length, of: offset) {
      (reader) throws(WireError) in (try Definition(from: &reader), reader.offset)
    }
    if let known = number < definitions.count ? definitions[number] : nil {
      // A record that is read again has its own definition.
      guard known == definition else {
        throw malformed("a definition", "message \(number) has another one", at: offset)
      }
      return size
    }
    guard number == definitions.count || hasSkipped, number < JournalFormat.maximumDefinitions
    else {
      throw malformed(
        "a definition", "its number is \(number), but \(definitions.count) is next", at: offset)
    }
    while definitions.count <= number { definitions.append(nil) }
    definitions[number] = definition
    return size
  }

  /// The definition of a record's message.
  func definition(of frame: JournalFrame) -> Definition {
    guard let definition = definitions[Int(frame.header.message)] else {
      preconditionFailure("a record without a definition is refused")
    }
    return definition
  }

  /// Reads the arguments of a record.
  func arguments<Result>(
    of frame: JournalFrame, _ body: (inout WireReader) throws(WireError) -> Result
  ) throws(JournalError) -> Result {
    try contents(frame.arguments..<frame.end, of: frame.offset, body)
  }

  private func contents<Result>(
    _ part: Range<Int>, of offset: Int, _ body: (inout WireReader) throws(WireError) -> Result
  ) throws(JournalError) -> Result {
    let isThere = try window.load(part.count, at: part.lowerBound)
    do throws(WireError) {
      guard isThere else { throw WireError(.tooShort(expected: part.count, given: 0), at: 0) }
      return try window.read(part.count, at: part.lowerBound, body)
    } catch {
      throw .malformed(offset: offset, error)
    }
  }

  /// Returns the header at an offset if the record is whole and its checksums match.
  @inline(__always)
  func wholeHeader(at offset: Int) throws(JournalError) -> RecordHeader? {
    guard let header = try window.headerAlone(at: offset),
      try window.isWhole(header, at: offset)
    else { return nil }
    return header
  }

  /// Moves behind the bytes at which reading stopped, to the next record that can follow.
  ///
  /// - Parameter toEnd: whether the file gets no more records, so that its rest is left out if no
  ///   record follows.
  /// - Returns: the bytes that were left out; nil if no record follows.
  func skipDamage(toEnd: Bool) throws(JournalError) -> Range<Int>? {
    let (start, size) = (offset, try window.size)
    if !hasSkipped { searchBudget = max(Self.mostSearched, 4 * size) }
    hasSkipped = true
    var end = start
    // A whole record that was refused is left out alone.
    if let refused = try? wholeHeader(at: start) {
      end += refused.length
    } else {
      guard let found = try nextReadable() ?? (toEnd ? size : nil) else { return nil }
      end = found
    }
    leftOut += end - start
    offset = end
    return start..<end
  }

  /// The offset of the next whole record that can follow. Pages that cannot be read are passed over.
  private func nextReadable() throws(JournalError) -> Int? {
    let (page, size) = (4096, try window.size)
    var position = offset
    while position < size {
      do throws(JournalError) { return try nextWhole(from: &position) } catch {
        switch error {
        case .system: position = (position / page + 1) * page
        // Too many bytes look like records.
        case .damaged: return nil
        default: throw error
        }
      }
    }
    return nil
  }
}
