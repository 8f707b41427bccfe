// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

/// The constants of the file format, which `Documentation/Journal.md` describes. Integers are
/// little-endian.
enum JournalFormat {
  /// `.FWJ` and line ends, which a transfer as text would change.
  static let magic: [UInt8] = [0x89, 0x46, 0x57, 0x4A, 0x0D, 0x0A, 0x1A, 0x0A]
  static let version: UInt16 = 1
  static let headerSize = 32
  static let recordSize = 32
  /// Sequence numbers stay below this, so that the next one is always representable.
  static let numbers: UInt64 = 1 << 63
  /// The longest record. A length from a file is compared with it before memory is allocated.
  static let maximumRecord = 16 << 20
  /// The maximum number of messages that one file may define.
  static let maximumDefinitions = 4096
}

/// The kind of a record.
enum RecordKind: UInt8 {
  /// The definition of a message: interface, selector and encoding. Calls refer to it by number.
  case definition = 1
  /// A call, recorded before it is made.
  case call = 2
  /// A call with its outcome.
  case outcome = 3
  /// Only a sequence number: the records before it were removed by a compaction.
  case mark = 4

  /// The first kind that a reader may skip if it does not know it.
  static let firstOptional: UInt8 = 128
  /// Only a header: all records before it are on the disk.
  static let synced: UInt8 = 128
}

/// The header of a file.
struct JournalHeader: Equatable {
  /// The sequence number of the first record, unless earlier ones were removed by a compaction.
  var first: UInt64
  /// When the file was created.
  var time: Int64
  /// Whether sequence numbers may have gaps.
  var isCompacted = false
  /// Whether the file may have preallocated zeros behind its records, and each record says how many
  /// records before it were unsynced when it was written.
  var tellsUnsynced = false

  /// The flags that this version knows. A file with other flags is refused.
  static let knownFlags: UInt16 = 3

  func write(to writer: inout WireWriter) throws(WireError) {
    try writer.append(JournalFormat.magic)
    try writer.append(JournalFormat.version)
    try writer.append(UInt16((isCompacted ? 1 : 0) | (tellsUnsynced ? 2 : 0)))
    try writer.append(first)
    try writer.append(UInt64(bitPattern: time))
    try writer.append(JournalChecksum.of(writer, 0..<writer.count))
  }
}

/// The header of a record.
struct RecordHeader: Equatable {
  var checksum: UInt32 = 0
  var length: Int
  var sequence: UInt64
  var time: Int64
  /// The number of the message's definition.
  var message: UInt16
  var kind: UInt8
  /// The encoded count of unsynced records before this one, if the file has such counts; otherwise
  /// 0.
  var flags: UInt8 = 0
  /// The checksum of the header alone, so that its length can be trusted even if the contents are
  /// torn.
  var ownChecksum: UInt32 = 0

  init(kind: RecordKind, message: UInt16 = 0, sequence: UInt64 = 0, time: Int64 = 0) {
    (self.kind, self.message, self.sequence, self.time) = (kind.rawValue, message, sequence, time)
    length = JournalFormat.recordSize
  }

  init(from reader: inout WireReader) throws(WireError) {
    checksum = try reader.uint32()
    length = try Int(reader.uint32())
    sequence = try reader.uint64()
    time = try Int64(bitPattern: reader.uint64())
    message = try reader.uint16()
    kind = try reader.byte()
    flags = try reader.byte()
    ownChecksum = try reader.uint32()
  }

  /// Encodes the number of unsynced records before a record. Values below 224 are exact. From 224
  /// on, each value stands for twice as many as the value before. So even with thousands of
  /// unsynced records, those far before them are known to be on the disk.
  @inline(__always)
  static func telling(unsynced count: UInt64) -> UInt8 {
    if count < 224 { return UInt8(count) }
    return UInt8(min(255, 224 + max(8, 64 - (count - 1).leadingZeroBitCount) - 8))
  }

  /// The upper bound of the unsynced records before this one.
  var unsynced: UInt64 {
    switch flags {
    case ..<224: UInt64(flags)
    case 255: .max
    default: 256 << UInt64(flags - 224)
    }
  }

  /// Appends space for a header.
  static func reserve(in writer: inout WireWriter) throws(WireError) {
    try writer.append(UInt64(0))
    try writer.append(UInt64(0))
    try writer.append(UInt64(0))
    try writer.append(UInt64(0))
  }

  /// Fills in the header of a record that extends from an offset to the end of the writer.
  @inline(__always)
  func fill(in writer: inout WireWriter, at start: Int) {
    writer.set(UInt32(writer.count - start), at: start + 4)
    writer.set(sequence, at: start + 8)
    writer.set(UInt64(bitPattern: time), at: start + 16)
    writer.set(UInt32(message) | UInt32(kind) << 16 | UInt32(flags) << 24, at: start + 24)
    writer.set(JournalChecksum.of(writer, start + 4..<start + 28), at: start + 28)
    writer.set(JournalChecksum.of(writer, start + 4..<writer.count), at: start)
  }
}

/// The payload limit for the wanted calls. Other calls are limited by the format only.
struct ReadingLimit {
  var bytes = JournalFormat.maximumRecord
  var first: UInt64 = 0
  var last = UInt64.max
  var until = Int64.max

  func wants(_ header: RecordHeader) -> Bool {
    header.sequence >= first && header.sequence <= last && header.time <= until
  }
}

extension JournalError {
  /// The error for a sequence number that leaves no room for further ones.
  static func tooLarge(_ number: UInt64, offset: Int, at byte: Int) -> JournalError {
    .malformed(
      offset: offset,
      WireError(
        .value(type: "a record's number", "\(number) is not below \(JournalFormat.numbers)"),
        at: byte))
  }
}
