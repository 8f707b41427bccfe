// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
@testable import ForwardingJournal
@testable import ForwardingWire

@Suite("Files of other versions")
struct VersionTests {
  /// A record of any kind, with a matching checksum.
  static func record(
    _ kind: UInt16, _ sequence: UInt64, _ contents: [UInt8] = [], message: UInt16 = 0
  ) throws -> [UInt8] {
    var writer = WireWriter(limit: 1 << 20)
    try RecordHeader.reserve(in: &writer)
    try writer.append(contents)
    var header = RecordHeader(kind: .call, message: message, sequence: sequence)
    header.kind = kind
    header.fill(in: &writer)
    return writer.bytes
  }

  private func journal(_ folder: Folder) throws -> [UInt8] {
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    try Ledger.rename("1", on: journal)
    try journal.close()
    return try folder.bytes()
  }

  @Test(
    "a file of another version is refused with its number, and not changed", arguments: [0, 1, 3])
  func otherVersion(_ version: UInt8) throws {
    let folder = try Folder()
    var bytes = try journal(folder)
    bytes[8] = version
    let sum = Checksums.both(Array(bytes[..<28]), 0)[0]
    for index in 0..<4 { bytes[28 + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(index))) }
    try folder.write(bytes)
    let error = JournalError.otherVersion(path: folder.journal, known: 2, given: Int(version))
    #expect(throws: error) { try Journal(at: folder.journal, interface: Ledger.interface()) }
    #expect(throws: error) { try JournalReader(at: folder.journal) }
    #expect(try folder.bytes() == bytes)
  }

  @Test("contents that do not match the kind are malformed, even with a matching checksum")
  func malformed() throws {
    let folder = try Folder()
    let whole = try journal(folder)
    for (kind, message, contents) in [
      // Arguments; kinds; messages; definitions.
      (2, 0, [1]), (2, 0, [1, 0, 0, 0, 0x61, 0]), (3, 0, []), (0, 0, []), (2, 1, [0, 0, 0, 0]),
      (2, .max, []), (1, 1, [1, 0]), (1, .max, [0, 0, 0, 0, 0, 0]),
    ] as [(UInt16, UInt16, [UInt8])] {
      let offset = whole.count
      try folder.write(whole + Self.record(kind, 2, contents, message: message))
      let reader = try JournalReader(at: folder.journal)
      #expect {
        try reader.replay(Ledger.interface(), into: Ledger())
      } throws: {
        if case JournalError.malformed(offset, _) = $0 { true } else { false }
      }
    }
  }

  @Test("a file that defines a message twice is continued with numbers of its own")
  func definedTwice() throws {
    let folder = try Folder()
    let whole = try journal(folder)
    try folder.write(whole + Self.record(1, 2, Array(whole[68...]), message: 1))
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    _ = try Ledger.withdraw(0, on: journal)
    try Ledger.rename("2", on: journal)
    let ledger = Ledger()
    #expect(try JournalReader(at: folder.journal).replay(Ledger.interface(), into: ledger) == 4)
    #expect(ledger.names == ["1", "1", "2"])
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
