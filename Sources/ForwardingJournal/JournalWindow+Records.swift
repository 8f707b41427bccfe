import ForwardingWire

// Headers of records, wherever they lie.
extension JournalWindow {
  /// The header at an offset, whose own checksum is right, whatever is behind it.
  @inline(__always)
  func headerAlone(at offset: Int) throws(JournalError) -> RecordHeader? {
    guard try load(JournalFormat.recordSize, at: offset),
      let header = try? read(
        JournalFormat.recordSize, at: offset,
        { (reader) throws(WireError) in try RecordHeader(from: &reader) }),
      header.length >= JournalFormat.recordSize, header.length <= JournalFormat.maximumRecord,
      checksum(24, at: offset + 4) == header.ownChecksum
    else { return nil }
    return header
  }

  /// Whether all of the record of a header is there, and as it was written.
  @inline(__always)
  func isWhole(_ header: RecordHeader, at offset: Int) throws(JournalError) -> Bool {
    try load(header.length, at: offset)
      && checksum(header.length - 4, at: offset + 4) == header.checksum
  }

  /// Goes on to the first header whose own checksum is right, at or behind a position, whatever its record holds;
  /// nil if there is none. Where bytes cannot be read, the position is theirs.
  func nextHeader(from position: inout Int) throws(JournalError) -> RecordHeader? {
    while try load(JournalFormat.recordSize, at: position) {
      let word = word(at: position)
      // Behind the checksum stands the length, which is never zero: no header lies in zeros.
      if word == 0 {
        position = max(position + 1, try firstNonZero(from: position + 8) - 7)
        continue
      }
      let length = Int(word >> 32)
      if length >= JournalFormat.recordSize, length <= JournalFormat.maximumRecord,
        let header = try headerAlone(at: position)
      {
        return header
      }
      position += 1
    }
    return nil
  }

  /// Whether zeros stand in a part of the file, at least 23 one behind the other; some of the places where there are 16
  /// count as well.
  func hasZeros(in part: Range<Int>) throws(JournalError) -> Bool {
    var position = part.lowerBound
    while position + 16 <= part.upperBound, try load(16, at: position) {
      if word(at: position) == 0, word(at: position + 8) == 0 { return true }
      position += 8
    }
    return false
  }

  /// Whether zeros stand where a record begins up to the end of a sector, which is the least that a disk writes: a few
  /// bytes of its header, while the rest may be there. Where these are a part of the checksum, its other bytes are right.
  func hasLostBeginning(at offset: Int) throws(JournalError) -> Bool {
    let lost = 512 - offset % 512
    guard lost < 24, try load(JournalFormat.recordSize, at: offset) else { return false }
    if lost >= 8 { return try firstNonZero(from: offset) >= offset + lost }
    guard word(at: offset) << (64 - 8 * UInt64(lost)) == 0 else { return false }
    if lost >= 4 { return true }
    guard let header = try headerAlone(at: offset), try load(header.length, at: offset) else {
      return false
    }
    return checksum(header.length - 4, at: offset + 4) >> (8 * UInt32(lost))
      == header.checksum >> (8 * UInt32(lost))
  }
}
