// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
@testable import ForwardingJournal
@testable import ForwardingWire

@Suite("Files of other versions")
struct VersionTests {
  /// A record of any kind, with a matching checksum.
  static func record(_ kind: UInt8, _ sequence: UInt64, _ contents: [UInt8] = []) throws -> [UInt8]
  {
    var writer = WireWriter(limit: 1 << 20)
    try RecordHeader.reserve(in: &writer)
    try writer.append(contents)
    var header = RecordHeader(kind: .mark, sequence: sequence)
    header.kind = kind
    header.fill(in: &writer, at: 0)
    return writer.bytes
  }

  private func journal(_ folder: Folder) throws -> [UInt8] {
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    try Ledger.rename("1", on: journal)
    try journal.close()
    return try folder.bytes()
  }

  @Test("a newer version of the format is refused with its number, and the file is not changed")
  func newerFile() throws {
    let folder = try Folder()
    var bytes = try journal(folder)
    bytes[8] = 2
    try folder.write(bytes)
    for open in [
      { _ = try Journal(at: folder.journal, interface: Ledger.interface()) },
      { _ = try JournalReader(at: folder.journal) },
    ] {
      #expect {
        try open()
      } throws: {
        $0 as? JournalError == .newerVersion(path: folder.journal, known: 1, given: 2)
      }
    }
    #expect(try folder.bytes() == bytes)
  }

  @Test("a record of a kind from a newer version is whole: it is reported, and never cut")
  func newerRecord() throws {
    let folder = try Folder()
    var bytes = try journal(folder)
    let offset = bytes.count
    bytes += try Self.record(77, 2, [1, 2, 3])
    try folder.write(bytes)
    #expect {
      try Journal(at: folder.journal, interface: Ledger.interface())
    } throws: {
      $0 as? JournalError == .unknownKind(offset: offset, kind: 77)
    }
    let reader = try JournalReader(at: folder.journal)
    #expect(try reader.next()?.selector == "rename:")
    #expect(throws: JournalError.unknownKind(offset: offset, kind: 77)) { try reader.next() }
    #expect(try folder.bytes() == bytes)
  }

  @Test("a record of an optional kind is skipped")
  func optionalRecord() throws {
    let folder = try Folder()
    try folder.write(journal(folder) + Self.record(200, 2, [1, 2, 3]))
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    try Ledger.rename("2", on: journal)
    try journal.close()
    let ledger = Ledger()
    try JournalReader(at: folder.journal).replay(Ledger.interface(), into: ledger)
    #expect(ledger.names == ["1", "2"])
  }

  @Test("contents that do not match the kind are malformed, even with a matching checksum")
  func malformed() throws {
    let folder = try Folder()
    let whole = try journal(folder)
    for (kind, contents) in [
      (2, [1]), (3, []), (3, [9, 0, 0, 0]), (3, [0, 0, 0, 0, 2]), (1, [1, 0]),
      (1, [0, 0, 0, 0, 0, 0, 7]),
    ] as [(UInt8, [UInt8])] {
      let offset = whole.count
      let reader = try JournalReader(whole + Self.record(kind, 2, contents))
      #expect {
        try reader.replay(Ledger.interface(), into: Ledger())
      } throws: {
        switch $0 as? JournalError {
        case .malformed(offset, _), .tooManyMessages: true
        default: false
        }
      }
    }
  }

  @Test("the instruction and the table compute the same checksum")
  func checksums() {
    let check = Array("123456789".utf8)
    #expect(Checksums.both(check, 0) == [0xE306_9283, 0xE306_9283])
    #expect(Checksums.both([], 0) == [0, 0])
    var random = SystemRandomNumberGenerator()
    for count in 0..<300 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      let both = Checksums.both(bytes, 0)
      #expect(both[0] == both[1], "\(bytes)")
      // A checksum in two parts is the same.
      let middle = count / 3
      let first = Checksums.both(Array(bytes[..<middle]), 0)
      #expect(Checksums.both(Array(bytes[middle...]), first[0]) == both)
    }
  }
}
