// SPDX-License-Identifier: Apache-2.0
import Testing
@testable import ForwardingJournal
@testable import ForwardingWire

/// Files that were made to take much time or memory.
@Suite("Hostile files", .timeLimit(.minutes(5)))
struct HostileFileTests {
  private func record(
    _ kind: RecordKind, _ number: UInt64, message: UInt16 = 0, length: Int? = nil
  ) throws -> [UInt8] {
    var writer = WireWriter(limit: 1000)
    try RecordHeader.reserve(in: &writer)
    if kind == .defining {
      let parts = ["t", "put:", "v@:i"].map { Array($0.utf8) }
      for part in parts { try writer.append(UInt16(part.count)) }
      for part in parts { try writer.append(part) }
    }
    if length == nil { try writer.append([5, 0, 0, 0] as [UInt8]) }
    var header = RecordHeader(kind: kind, message: message, sequence: number, time: 1)
    header.unsynced = .max
    header.fill(in: &writer)
    if let length {
      // A header alone, whose own checksum is right.
      writer.set(UInt32(length), at: 4)
      writer.set(JournalChecksum.of(writer, 4..<32), at: 32)
      writer.set(0x1234_5678 as UInt32, at: 0)
    }
    return writer.bytes
  }

  private func beginning() throws -> [UInt8] {
    var writer = WireWriter(limit: 100)
    try JournalHeader(first: 1, time: 1).write(to: &writer)
    return try writer.bytes + record(.defining, 1)
  }

  /// Reads everything that can be read. Returns the numbers of the records and of the parts that were
  /// left out.
  private func read(_ bytes: [UInt8]) throws -> (records: Int, skipped: Int) {
    let folder = try Folder()
    try folder.write(bytes)
    let reader = try JournalReader(at: folder.journal)
    var (records, skipped) = (0, 0)
    reading: while true {
      do {
        while try reader.next() != nil { records += 1 }
        guard try reader.skipDamage() != nil else { break reading }
      } catch {
        guard try reader.skipDamage() != nil else { break reading }
      }
      skipped += 1
    }
    return (records, skipped)
  }

  private let gap = [UInt8](repeating: 1, count: 8)
  private let end = [UInt8](repeating: 1, count: 5 << 20)

  @Test("the same bytes are not checksummed for each of many headers")
  func overlapping() throws {
    var bytes = try beginning() + gap
    for number in 0..<5000 as Range<UInt64> {
      bytes += try record(.call, 2 + number / 2, length: 4 << 20)
    }
    #expect(try read(bytes + end).records == 1)
  }

  @Test("many definitions take memory once, and those with too high numbers are left out")
  func definitions() throws {
    for haveOneNumber in [false, true] {
      var bytes = try beginning()
      for index in 0..<8000 as Range<UInt16> {
        let number = haveOneNumber ? 0 : index &* 5
        bytes += try gap + record(.defining, UInt64(index) + 2, message: number)
      }
      let (records, skipped) = try read(bytes)
      #expect(haveOneNumber ? records == 8001 : records < 8000)
      #expect(skipped >= 7999)
    }
  }

  @Test("many damaged places in a small file take a time that grows with its size")
  func many() throws {
    var bytes = try beginning()
    for number in 2..<20_000 as Range<UInt64> { bytes += try gap + record(.call, number) }
    let (records, skipped) = try read(bytes)
    #expect(records == 19_999 && skipped == 19_998)
  }
}
