// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

/// The constants of the file format, which `Documentation/Journal.md` describes. Integers are
/// little-endian.
enum JournalFormat {
  /// `.FWJ` and line ends, which a transfer as text would change.
  static let magic: [UInt8] = [0x89, 0x46, 0x57, 0x4A, 0x0D, 0x0A, 0x1A, 0x0A]
  static let version: UInt16 = 2
  static let headerSize = 32
  static let recordSize = 36
  /// The first number of a file is below this. A file has less than 2^63 bytes, so the number of
  /// each of its records has a successor.
  static let numbers: UInt64 = 1 << 63
  /// The longest record. A length from a file is compared with it before memory is allocated.
  static let maximumRecord = 16 << 20
  /// The maximum number of messages that one file may define, and the longest definition.
  static let maximumDefinitions = 4096
  static let maximumDefinition = 6 + 3 * Int(UInt16.max)
}

/// The kind of a record. Each one is a call.
enum RecordKind: UInt16 {
  /// The first call of a message in a file. The definition of the message stands in front of the
  /// arguments, so that one write has both.
  case defining = 1
  /// A further call of a message.
  case call = 2
}

/// The header of a file.
struct JournalHeader {
  var magic = JournalFormat.magic
  var version = JournalFormat.version
  /// The sequence number of the first record.
  var first: UInt64
  /// When the file was created.
  var time: Int64
  var checksum: UInt32 = 0

  init(first: UInt64, time: Int64) { (self.first, self.time) = (first, time) }

  init(from reader: inout WireReader) throws(WireError) {
    magic = try reader.bytes(8)
    version = try reader.uint16()
    try reader.skip(2)
    first = try reader.uint64()
    time = try Int64(bitPattern: reader.uint64())
    checksum = try reader.uint32()
  }

  func write(to writer: inout WireWriter) throws(WireError) {
    try writer.append(magic)
    try writer.append(version)
    try writer.append(UInt16(0))
    try writer.append(first)
    try writer.append(UInt64(bitPattern: time))
    try writer.append(JournalChecksum.of(writer, 0..<writer.count))
  }
}

/// The header of a record.
struct RecordHeader: Equatable {
  var checksum: UInt32 = 0
  var length = JournalFormat.recordSize
  var sequence: UInt64
  var time: Int64
  /// The number of the message's definition.
  var message: UInt16
  var kind: UInt16
  /// How many records before this one a power cut may take, because their callers were not
  /// acknowledged yet when this one was written. 0 where calls do not wait for the disk.
  var unsynced: UInt32 = 0
  /// The checksum of the header alone, so that its length can be trusted even if the contents are
  /// torn.
  var ownChecksum: UInt32 = 0

  init(kind: RecordKind, message: UInt16 = 0, sequence: UInt64 = 0, time: Int64 = 0) {
    (self.kind, self.message, self.sequence, self.time) = (kind.rawValue, message, sequence, time)
  }

  init(from reader: inout WireReader) throws(WireError) {
    checksum = try reader.uint32()
    length = try Int(reader.uint32())
    sequence = try reader.uint64()
    time = try Int64(bitPattern: reader.uint64())
    message = try reader.uint16()
    kind = try reader.uint16()
    unsynced = try reader.uint32()
    ownChecksum = try reader.uint32()
  }

  /// Appends space for a header.
  static func reserve(in writer: inout WireWriter) throws(WireError) {
    for _ in 0..<4 { try writer.append(UInt64(0)) }
    try writer.append(UInt32(0))
  }

  /// Fills in the header of the record that the writer has.
  @inline(__always)
  func fill(in writer: inout WireWriter) {
    writer.set(UInt32(writer.count), at: 4)
    writer.set(sequence, at: 8)
    writer.set(UInt64(bitPattern: time), at: 16)
    writer.set(UInt32(message) | UInt32(kind) << 16, at: 24)
    writer.set(unsynced, at: 28)
    writer.set(JournalChecksum.of(writer, 4..<32), at: 32)
    writer.set(JournalChecksum.of(writer, 4..<writer.count), at: 0)
  }
}
