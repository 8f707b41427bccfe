// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import ForwardingWire
import Foundation
import Testing
@testable import ForwardingJournal

/// Files that were made to take much time or memory.
@Suite("Hostile files")
struct HostileFileTests {
  private func record(
    _ kind: RecordKind, _ number: UInt64, message: UInt16 = 0, flags: UInt8 = 0,
    length: Int? = nil
  ) throws -> [UInt8] {
    var writer = WireWriter(limit: 1000)
    try RecordHeader.reserve(in: &writer)
    switch kind {
    case .definition:
      let parts = ["t", "put:", "v@:i"].map { Array($0.utf8) }
      for part in parts { try writer.append(UInt16(part.count)) }
      for part in parts { try writer.append(part) }
    case .call where length == nil: try writer.append([5, 0, 0, 0] as [UInt8])
    default: break
    }
    var header = RecordHeader(kind: kind, message: message, sequence: number, time: 1)
    header.flags = flags
    header.fill(in: &writer, at: 0)
    if let length {
      // A header alone, whose own checksum is right.
      writer.set(UInt32(length), at: 4)
      writer.set(JournalChecksum.of(writer, 4..<28), at: 28)
      writer.set(0x1234_5678 as UInt32, at: 0)
    }
    return writer.bytes
  }

  private func beginning(tellsUnsynced: Bool) throws -> [UInt8] {
    var writer = WireWriter(limit: 100)
    try JournalHeader(first: 1, time: 1, tellsUnsynced: tellsUnsynced).write(to: &writer)
    return try writer.bytes + record(.definition, 1)
      + record(.call, 1, flags: tellsUnsynced ? 255 : 0)
  }

  private func seconds(_ body: () throws -> Void) throws -> Double {
    let begin = ContinuousClock.now
    try body()
    return (ContinuousClock.now - begin) / .seconds(1)
  }

  @Test("candidates before each of many whole records have one budget")
  func evading() throws {
    let candidate = try record(.call, 1 << 39, length: 16 << 20)
    var bytes = try beginning(tellsUnsynced: true) + [UInt8](repeating: 0, count: 2048)
    for number in 3..<1003 as Range<UInt64> {
      bytes += [UInt8](repeating: 1, count: 8) + candidate + candidate + candidate
      bytes += try record(.call, number, flags: 255)
    }
    bytes += [UInt8](repeating: 1, count: 17 << 20)
    let reader = try JournalReader(bytes)
    let taken = try seconds { () throws -> Void in
      #expect(try reader.next()?.sequence == 1)
      #expect(throws: JournalError.self) { try reader.next() }
    }
    // Three times 16 MB for each of the records took minutes.
    #expect(taken < 15)
  }

  @Test("a salvage does not checksum the same bytes for each of many headers")
  func overlapping() throws {
    let folder = try Folder()
    var bytes = try beginning(tellsUnsynced: false) + [UInt8](repeating: 1, count: 8)
    let candidate = try record(.call, 1 << 39, length: 16 << 20)
    for _ in 0..<5000 { bytes += candidate }
    bytes += [UInt8](repeating: 1, count: 17 << 20)
    try folder.write(bytes)
    let taken = try seconds { () throws -> Void in
      let salvage = try Journal.salvage(folder.journal, to: folder.path + "/out")
      #expect(salvage.saved == 1 && salvage.losses.count == 1)
    }
    #expect(taken < 20)
  }

  @Test("many definitions between calls out of order take memory once", arguments: [false, true])
  func definitions(haveOneNumber: Bool) throws {
    let folder = try Folder()
    var bytes = try beginning(tellsUnsynced: false)
    for index in 0..<4000 as Range<UInt16> {
      let number = haveOneNumber ? 0 : index
      bytes += try record(.definition, 1, message: number) + record(.call, 5, message: number)
    }
    try folder.write(bytes)
    let taken = try seconds { () throws -> Void in
      let salvage = try Journal.salvage(folder.journal, to: folder.path + "/out")
      #expect(salvage.saved == 2)
    }
    #expect(taken < 30)
  }
}
