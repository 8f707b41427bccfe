import ForwardingWire

/// The numbers of the file format, which `Documentation/Journal.md` tells of. All begin with their lowest byte.
enum JournalFormat {
  /// `.FWJ`, and line ends that a transfer as text would change.
  static let magic: [UInt8] = [0x89, 0x46, 0x57, 0x4A, 0x0D, 0x0A, 0x1A, 0x0A]
  static let version: UInt16 = 1
  static let headerSize = 32
  static let recordSize = 32
  /// Numbers of records stay below this, so that one more is a number, too.
  static let numbers: UInt64 = 1 << 63
  /// The longest record. A length from a file is compared with it before anything is allocated.
  static let maximumRecord = 16 << 20
  /// The most messages that one file may define.
  static let maximumDefinitions = 4096
}

/// What a record is.
enum RecordKind: UInt8 {
  /// A message, which calls name by its number: interface, selector and encoding.
  case definition = 1
  /// A call, before it was made.
  case call = 2
  /// A call with what became of it.
  case outcome = 3
  /// Nothing but a number: what was before it was compacted away.
  case mark = 4

  /// A kind from here on may be passed over by who does not know it.
  static let firstOptional: UInt8 = 128
  /// Nothing but what its header tells: all before it is on the disk.
  static let synced: UInt8 = 128
}

/// What stands in front of the records of a file.
struct JournalHeader: Equatable {
  /// The number of the first record, unless earlier ones were compacted away.
  var first: UInt64
  /// When the file was made.
  var time: Int64
  /// Whether numbers may be missing.
  var isCompacted = false
  /// Whether zeros may stand behind the records, as room for others, and each tells how many before it were not on the
  /// disk when it was written.
  var tellsUnsynced = false

  /// The flags that this version knows; a file with others is refused.
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

/// What stands in front of what a record holds.
struct RecordHeader: Equatable {
  var checksum: UInt32 = 0
  var length: Int
  var sequence: UInt64
  var time: Int64
  /// The number of the message.
  var message: UInt16
  var kind: UInt8
  /// How many records before it were not on the disk, in a file that tells so; else 0.
  var flags: UInt8 = 0
  /// Of the header alone, so that its length can be believed where the contents are not whole.
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

  /// Tells how many records before one are not on the disk. From 224 on, each number stands for twice as many as the one
  /// before: where thousands wait, what is far in front of them is known to be there all the same.
  @inline(__always)
  static func telling(unsynced count: UInt64) -> UInt8 {
    if count < 224 { return UInt8(count) }
    return UInt8(min(255, 224 + max(8, 64 - (count - 1).leadingZeroBitCount) - 8))
  }

  /// How many these may be at most.
  var unsynced: UInt64 {
    switch flags {
    case ..<224: UInt64(flags)
    case 255: .max
    default: 256 << UInt64(flags - 224)
    }
  }

  /// Makes room for a header.
  static func reserve(in writer: inout WireWriter) throws(WireError) {
    try writer.append(UInt64(0))
    try writer.append(UInt64(0))
    try writer.append(UInt64(0))
    try writer.append(UInt64(0))
  }

  /// Fills in the header of the record that begins at an offset and goes on to the end.
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

/// How much the calls may hold that are wanted. All others may hold what the format allows.
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
  /// A number that leaves no room for others behind it.
  static func tooLarge(_ number: UInt64, offset: Int, at byte: Int) -> JournalError {
    .malformed(
      offset: offset,
      WireError(
        .value(type: "a record's number", "\(number) is not below \(JournalFormat.numbers)"),
        at: byte))
  }
}
