// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

// Finding record headers.
extension JournalWindow {
  /// Returns the header at an offset if its own checksum matches. The contents are not checked.
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

  /// Whether the whole record of a header is in the file and matches its checksum.
  @inline(__always)
  func isWhole(_ header: RecordHeader, at offset: Int) throws(JournalError) -> Bool {
    try load(header.length, at: offset)
      && checksum(header.length - 4, at: offset + 4) == header.checksum
  }

  /// Returns the first header at or after a position whose own checksum matches, whatever its
  /// record contains; otherwise nil. Moves the position there, or to bytes that cannot be
  /// read.
  func nextHeader(from position: inout Int) throws(JournalError) -> RecordHeader? {
    while try load(JournalFormat.recordSize, at: position) {
      let word = word(at: position)
      // The length follows the checksum and is never zero, so no header lies within zeros.
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

  /// The smallest unit that a disk writes, in bytes.
  private static let sector = 512

  /// Whether a disk sector of a part of the file has only zeros, or the end of a sector at the
  /// beginning of the part. Other zeros are the contents of records.
  func hasLostSector(in part: Range<Int>) throws(JournalError) -> Bool {
    var start = part.lowerBound
    while true {
      let end = (start / Self.sector + 1) * Self.sector
      guard end <= part.upperBound else { return false }
      if end - start >= 8, try firstNonZero(from: start) >= end { return true }
      start = end
    }
  }

  /// Whether a record begins with zeros up to the end of a disk sector. That loses a few bytes of the header while the rest may be there. If they are a
  /// part of the checksum, its remaining bytes must match.
  func hasLostBeginning(at offset: Int) throws(JournalError) -> Bool {
    let lost = Self.sector - offset % Self.sector
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
