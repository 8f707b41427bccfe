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
}

/// Finds the records of one file, and trusts none of its bytes.
struct JournalScanner {
  let window: JournalWindow
  let header: JournalHeader
  /// The offset of the next record.
  private(set) var offset = JournalFormat.headerSize
  /// The sequence number of the next record.
  private(set) var next: UInt64
  /// The defined messages, indexed by their numbers; nil where a definition was left out.
  private(set) var definitions: [Definition?] = []
  /// How many bytes at the end are no record.
  private(set) var torn = 0
  /// The bytes that were left out since the last record, and whether any were left out before.
  private var leftOut = 0
  private var hasSkipped = false

  /// Reads the header of a file.
  init(_ window: JournalWindow) throws(JournalError) {
    self.window = window
    let (size, path) = (JournalFormat.headerSize, window.file.path)
    guard try window.load(size, at: 0),
      let header = try? window.read(
        size, at: 0, { (reader) throws(WireError) in try JournalHeader(from: &reader) }),
      header.magic == JournalFormat.magic
    else { throw .notAJournal(path: path) }
    guard header.version == JournalFormat.version else {
      throw .otherVersion(
        path: path, known: Int(JournalFormat.version), given: Int(header.version))
    }
    guard header.checksum == window.checksum(size - 4, at: 0), header.first < JournalFormat.numbers
    else { throw .notAJournal(path: path) }
    self.header = header
    next = header.first
  }

  /// Returns the next record; nil at the end.
  @inline(__always)
  mutating func nextFrame() throws(JournalError) -> JournalFrame? {
    guard let found = try recordHeader(at: offset) else { return try end() }
    // This is checked first, so that no contents are read for a header that has its place elsewhere.
    guard canFollow(found.sequence, at: offset) else {
      throw .missing(offset: offset, expected: next, given: found.sequence)
    }
    guard try isWhole(found, at: offset) else { return try end() }
    let frame = JournalFrame(
      header: found, offset: offset, arguments: try arguments(of: found, at: offset))
    (offset, next) = (frame.end, found.sequence + 1)
    (torn, leftOut) = (0, 0)
    return frame
  }

  /// Moves back before a call, so that it is read again.
  mutating func unread(_ frame: JournalFrame) {
    (offset, next) = (frame.offset, frame.header.sequence)
  }

  /// Whether a record can be the next one at an offset. Numbers may be missing only if the bytes
  /// between had room for their records.
  func canFollow(_ sequence: UInt64, at place: Int) -> Bool {
    let most = (leftOut + place - offset) / JournalFormat.recordSize
    return sequence >= next && sequence - next <= UInt64(most)
  }

  // MARK: Contents

  /// Returns the offset of a record's arguments, after storing the definition in front of them.
  @inline(__always)
  private mutating func arguments(
    of header: RecordHeader, at offset: Int
  ) throws(JournalError) -> Int {
    let (start, number) = (offset + JournalFormat.recordSize, Int(header.message))
    switch RecordKind(rawValue: header.kind) {
    case .call:
      guard number < definitions.count, definitions[number] != nil else {
        throw malformed("a call", "message \(number) is not defined", at: offset)
      }
      return start
    case .defining:
      guard number < JournalFormat.maximumDefinitions else {
        throw malformed("a definition", "its number is \(number)", at: offset)
      }
      let (definition, size) = try contents(start..<offset + header.length, of: offset) {
        (reader) throws(WireError) in (try Definition(from: &reader), reader.offset)
      }
      while definitions.count <= number { definitions.append(nil) }
      definitions[number] = definition
      return start + size
    case nil: throw malformed("a record", "it has kind \(header.kind)", at: offset)
    }
  }

  private func malformed(_ type: String, _ what: String, at offset: Int) -> JournalError {
    .malformed(offset: offset, WireError(.value(type: type, what), at: 24))
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

  // MARK: Headers

  /// Returns the header at an offset if its own checksum matches. The contents are not checked.
  @inline(__always)
  func recordHeader(at offset: Int) throws(JournalError) -> RecordHeader? {
    guard try window.load(JournalFormat.recordSize, at: offset) else { return nil }
    let length = Int(window.word(at: offset) >> 32)
    guard length >= JournalFormat.recordSize, length <= JournalFormat.maximumRecord,
      let header = try? window.read(
        JournalFormat.recordSize, at: offset,
        { (reader) throws(WireError) in try RecordHeader(from: &reader) }),
      window.checksum(28, at: offset + 4) == header.ownChecksum
    else { return nil }
    return header
  }

  /// Whether the whole record of a header is in the file and matches its checksum.
  @inline(__always)
  private func isWhole(_ header: RecordHeader, at offset: Int) throws(JournalError) -> Bool {
    try window.load(header.length, at: offset)
      && window.checksum(header.length - 4, at: offset + 4) == header.checksum
  }

  /// The header at an offset, if it can be the next one there.
  private func placedHeader(at offset: Int) throws(JournalError) -> RecordHeader? {
    guard let header = try recordHeader(at: offset), canFollow(header.sequence, at: offset) else {
      return nil
    }
    return header
  }

  /// The length of the next record, if it is whole. Its contents may be refused all the same.
  private var wholeLength: Int? {
    get throws(JournalError) {
      guard let header = try placedHeader(at: offset), try isWhole(header, at: offset) else {
        return nil
      }
      return header.length
    }
  }

  // MARK: The place where no record begins

  /// Distinguishes the end of the file from a torn record, and both from damage before other
  /// records.
  ///
  /// - Returns: a record that was completed meanwhile; otherwise nil, after setting `torn`.
  private mutating func end() throws(JournalError) -> JournalFrame? {
    let left = try window.file.size - offset
    torn = 0
    if left <= 0 { return nil }
    // A record that was half written when it was read may be complete by now.
    if try isWholeByNow { return try nextFrame() }
    if let resumes = try place(behind: offset) {
      if try isWholeByNow { return try nextFrame() }
      // Behind damage, the whole rest counts as such.
      guard !hasSkipped, try isUnsynced(before: resumes) else {
        throw .damaged(offset: offset, resumes: resumes)
      }
    }
    torn = left
    return nil
  }

  private var isWholeByNow: Bool {
    get throws(JournalError) {
      window.forget()
      return try wholeLength != nil
    }
  }

  /// The offset of the next header that has a place behind the broken record at an offset; nil if
  /// there is none.
  ///
  /// A header is trusted for the length of its record, whatever its contents look like: an
  /// interrupted write leaves a header with the intended length, and the contents may be a journal
  /// themselves. Contents are not compared with their checksums here, so that the time for any bytes
  /// grows with their number.
  private func place(behind offset: Int) throws(JournalError) -> Int? {
    var place = offset + (try placedHeader(at: offset)?.length ?? 1)
    while try window.load(JournalFormat.recordSize, at: place) {
      if try placedHeader(at: place) != nil { return place }
      place += 1
    }
    return nil
  }

  /// Whether the broken record here may be one that a power cut took before its caller was
  /// acknowledged. If a later record says that it was synced by then, it is damaged.
  private func isUnsynced(before place: Int) throws(JournalError) -> Bool {
    var place: Int? = place
    while let start = place, let found = try recordHeader(at: start) {
      if found.sequence <= next || found.sequence - next > UInt64(found.unsynced) { return false }
      place = try self.place(behind: start)
    }
    return true
  }

  /// Moves behind the bytes at which reading stopped, to the next place at which a record can be.
  ///
  /// - Parameter toEnd: whether the file gets no more records, so that its rest is left out if no
  ///   record follows.
  /// - Returns: the bytes that were left out; nil if no record follows.
  mutating func skipDamage(toEnd: Bool) throws(JournalError) -> Range<Int>? {
    let start = offset
    if let length = try wholeLength {
      // The record was refused, and is left out alone.
      offset += length
    } else if let place = try place(behind: start) {
      offset = place
    } else if toEnd {
      offset = try window.file.size
    } else {
      return nil
    }
    (hasSkipped, leftOut) = (true, leftOut + offset - start)
    return start..<offset
  }
}
