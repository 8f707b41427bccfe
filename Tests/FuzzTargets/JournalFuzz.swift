// SPDX-License-Identifier: Apache-2.0
import CJournalShims
import ForwardingJournal

/// For any bytes, reading them as a journal ends within the bytes, and a second read gives the same
/// records. The bytes are also read with corrected checksums, so that the code after the checksum
/// is reached.
enum JournalFuzz {
  private final class Nobody: ForwardingProxy {
    override func methodSignature(for selector: Selector) -> MethodSignature? {
      WireFuzz.interface.messages.first { $0.selector == selector }?.signature
    }
    override func forward(_ invocation: Invocation) throws {}
  }

  static func run(_ bytes: [UInt8]) throws {
    try read(bytes)
    try read(head() + bytes)
    try read(records(FuzzInput(bytes), flags: 0))
    try read(records(FuzzInput(bytes), flags: 2))
  }

  /// Makes complete records from the input: a kind, the number of a message, and contents.
  private static func records(_ input: FuzzInput, flags: UInt8) -> [UInt8] {
    var input = input
    var file = head(flags)
    var sequence: UInt64 = 1
    for (number, message) in WireFuzz.interface.messages.enumerated() {
      let texts = [WireFuzz.interface.name, message.selector.name, message.encoding].map {
        Array($0.utf8)
      }
      let contents = texts.flatMap { little(UInt64($0.count), 2) } + texts.flatMap { $0 }
      file += record(1, UInt16(number), sequence, contents)
    }
    while !input.isEmpty {
      let kind = input.byte()
      let message = UInt16(input.byte() & 7)
      let contents = input.bytes(input.number(below: 40))
      file += record(kind & 7, message, sequence, contents, told: flags == 0 ? 0 : kind >> 4)
      if kind & 7 != 1 { sequence += kind & 8 == 0 ? 1 : 2 }
      // Sometimes bytes that are no record.
      if kind > 250 { file += input.bytes(3) }
    }
    return file
  }

  private static func little(_ number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
  }

  private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
    little(UInt64(unsafe fwd_crc32c(0, bytes, bytes.count)), 4)
  }

  private static func head(_ flags: UInt8 = 0) -> [UInt8] {
    let bytes: [UInt8] =
      [0x89, 0x46, 0x57, 0x4A, 0x0D, 0x0A, 0x1A, 0x0A, 1, 0, flags, 0] + little(1, 8)
      + little(0, 8)
    return bytes + checksum(bytes)
  }

  private static func record(
    _ kind: UInt8, _ message: UInt16, _ sequence: UInt64, _ contents: [UInt8],
    told: UInt8 = 0
  ) -> [UInt8] {
    let head =
      little(UInt64(32 + contents.count), 4) + little(sequence, 8) + little(0, 8)
      + little(UInt64(message), 2) + [kind, told]
    let rest = head + checksum(head) + contents
    return checksum(rest) + rest
  }

  private static func read(_ bytes: [UInt8]) throws {
    guard let reader = try? JournalReader(bytes) else { return }
    var records: [JournalRecord] = []
    var failure: JournalError?
    do {
      while let record = try reader.next() {
        try demand(record.offset < bytes.count, "a record begins behind the end")
        try demand(records.count <= bytes.count / 32, "there are more records than bytes for them")
        _ = (try? record.values())?.description
        records.append(record)
      }
    } catch let error as JournalError {
      try demand(error.description.utf8.count < 4_000, "an error of long bytes is long")
      failure = error
    }
    if failure == nil {
      try demand(
        reader.tail != .whole || bytes[reader.offset...].allSatisfy { $0 == 0 },
        "the end is not the end")
      if case .torn(let offset, let count) = reader.tail {
        try demand(offset + count == bytes.count, "a torn end is longer than the file")
        try again(Array(bytes[..<offset]), records)
      }
    }
    var options = ReplayOptions()
    options.migrate = { _ in .skip }
    let summary = try? JournalReader(bytes).replay(WireFuzz.interface, into: Nobody(), options)
    try demand((summary?.made ?? 0) <= records.count, "more calls are made than there are")
  }

  /// Checks that a file without its torn end has the same records.
  private static func again(_ bytes: [UInt8], _ expected: [JournalRecord]) throws {
    let reader = try JournalReader(bytes)
    for record in expected {
      try demand(try reader.next() == record, "a record is not read again")
    }
    try demand(try reader.next() == nil, "there is one more")
  }
}
