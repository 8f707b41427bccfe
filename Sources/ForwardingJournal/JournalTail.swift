// SPDX-License-Identifier: Apache-2.0
/// The end of a journal.
///
/// ```swift
/// JournalTail.torn(offset: 96, bytes: 11)  // 11 bytes from byte 96 on are no record
/// JournalTail.whole                        // whole
/// ```
public enum JournalTail: Hashable, Sendable, CustomStringConvertible {
  /// The end of a whole record, or of a journal without records.
  case whole
  /// Bytes that are no record: the rest of an interrupted write.
  case torn(offset: Int, bytes: Int)

  public var description: String {
    switch self {
    case .whole: "whole"
    case .torn(let offset, let bytes): "\(bytes) bytes from byte \(offset) on are no record"
    }
  }
}
