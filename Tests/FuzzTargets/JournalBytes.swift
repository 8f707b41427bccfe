// SPDX-License-Identifier: Apache-2.0
import CJournalShims

/// Bytes of a journal, as the page of the format describes them.
package enum JournalBytes {
  package static func little(_ number: some FixedWidthInteger, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private static func sum(_ bytes: [UInt8]) -> [UInt8] {
    little(unsafe fwd_crc32c_by_table(0, bytes, bytes.count), 4)
  }

  package static func beginning(first: UInt64 = 1, version: UInt8 = 2, time: Int64 = 0) -> [UInt8] {
    let magic = [0x89] + Array("FWJ\r\n\u{1A}\n".utf8)
    let head = magic + little(version, 4) + little(first, 8) + little(time, 8)
    return head + sum(head)
  }

  /// A record. One with a given length is a header alone, whose own checksum is right.
  package static func record(
    kind: UInt16, _ number: UInt64, _ contents: [UInt8] = [], message: UInt16 = 0,
    unsynced: UInt32 = 0, time: Int64 = 0, length: Int? = nil
  ) -> [UInt8] {
    let head =
      little(length ?? 36 + contents.count, 4) + little(number, 8) + little(time, 8)
      + little(message, 2) + little(kind, 2) + little(unsynced, 4)
    let rest = head + sum(head) + contents
    return (length == nil ? sum(rest) : [0x78, 0x56, 0x34, 0x12]) + rest
  }
}
