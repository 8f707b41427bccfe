// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import Foundation
import Invocations
import TypeEncodings

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
    try read(JournalBytes.beginning() + bytes)
    try read(records(FuzzInput(bytes), isSynced: false))
    try read(records(FuzzInput(bytes), isSynced: true))
  }

  /// Makes complete records from the input: a kind, the number of a message, and contents.
  private static func records(_ input: FuzzInput, isSynced: Bool) -> [UInt8] {
    var input = input
    var file = JournalBytes.beginning()
    var sequence: UInt64 = 1
    var undefined = WireFuzz.interface.messages.map { message in
      let texts = [WireFuzz.interface.name, message.selector.name, message.encoding].map {
        Array($0.utf8)
      }
      return texts.flatMap { JournalBytes.little($0.count, 2) } + texts.flatMap { $0 }
    }
    let count = undefined.count
    while !input.isEmpty {
      let kind = input.byte()
      let message = UInt16(input.byte() & 7)
      var contents = input.bytes(input.number(below: 40))
      // Most messages are defined in order, and the others by the input.
      let defines = kind & 4 != 0 && !undefined.isEmpty
      let number = defines ? UInt16(count - undefined.count) : message
      if defines { contents = undefined.removeFirst() + contents }
      file += JournalBytes.record(
        kind: defines ? 1 : UInt16(kind & 3), sequence, contents, message: number,
        unsynced: isSynced ? 0 : UInt32(kind >> 4))
      sequence += kind & 8 == 0 || input.isEmpty ? 1 : UInt64(message & 1) + 1
      // Sometimes bytes that are no record.
      if kind > 250 { file += input.bytes(3) }
    }
    return file
  }

  private static func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(bytes).write(to: file)
    try body(file.path)
  }

  private static func read(_ bytes: [UInt8]) throws {
    try withFile(bytes) { path in
      guard let reader = try? JournalReader(at: path) else { return }
      var records: [JournalRecord] = []
      var failure: JournalError?
      do {
        while let record = try reader.next() {
          try demand(record.offset < bytes.count, "a record begins behind the end")
          try demand(
            records.count <= bytes.count / 36, "there are more records than bytes for them")
          _ = (try? record.values())?.description
          records.append(record)
        }
      } catch let error as JournalError {
        try demand(error.description.utf8.count < 4_000, "an error of long bytes is long")
        failure = error
      }
      if failure == nil {
        try demand(reader.offset + reader.torn == bytes.count, "the end is not the end")
        try withFile(Array(bytes[..<reader.offset])) { try again($0, records) }
      }
      let made = try? JournalReader(at: path).replay(WireFuzz.interface, into: Nobody())
      try demand((made ?? 0) <= records.count, "more calls are made than there are")
      try demand(
        try readAll(path, bytes.count) >= records.count, "fewer records are read behind damage")
    }
  }

  /// Counts the records, also those behind damage. The parts that are left out are in order.
  private static func readAll(_ path: String, _ size: Int) throws -> Int {
    let reader = try JournalReader(at: path)
    var (count, end, last) = (0, 0, UInt64(0))
    while true {
      if let record = try? reader.next() {
        try demand(record.sequence > last && record.offset >= end, "records are not in order")
        (count, last) = (count + 1, record.sequence)
        continue
      }
      guard let skipped = try reader.skipDamage() else { return count }
      try demand(
        skipped.bytes.lowerBound >= end && !skipped.bytes.isEmpty
          && skipped.bytes.upperBound <= size, "parts are left out twice")
      end = skipped.bytes.upperBound
    }
  }

  /// Checks that a file without its torn end has the same records.
  private static func again(_ path: String, _ expected: [JournalRecord]) throws {
    let reader = try JournalReader(at: path)
    for record in expected {
      try demand(try reader.next() == record, "a record is not read again")
    }
    try demand(try reader.next() == nil, "there is one more")
  }
}
