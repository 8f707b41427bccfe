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
      checksum(28, at: offset + 4) == header.ownChecksum
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
      let length = Int(word(at: position) >> 32)
      if length >= JournalFormat.recordSize, length <= JournalFormat.maximumRecord,
        let header = try headerAlone(at: position)
      {
        return header
      }
      position += 1
    }
    return nil
  }
}
