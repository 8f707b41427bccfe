// SPDX-License-Identifier: Apache-2.0
import CJournalShims
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Testing

@Suite("Files of other versions")
struct VersionTests {
  @Test(
    "a file of another version is refused with its number, and not changed", arguments: [0, 1, 3])
  func otherVersion(_ version: UInt8) throws {
    let folder = try Folder()
    try folder.write(1...1)
    let bytes = try JournalBytes.beginning(version: version) + folder.bytes().dropFirst(32)
    try folder.write(bytes)
    let error = JournalError.otherVersion(path: folder.journal, known: 2, given: Int(version))
    #expect(throws: error) { try folder.open() }
    #expect(throws: error) { try folder.reader() }
    #expect(try folder.bytes() == bytes)
  }

  @Test("contents that do not match the kind are malformed, even with a matching checksum")
  func malformed() throws {
    let folder = try Folder()
    try folder.write(1...1)
    let whole = try folder.bytes()
    for (kind, message, contents) in [
      // Arguments; kinds; messages; definitions.
      (2, 0, [1]), (2, 0, [1, 0, 0, 0, 0x61, 0]), (3, 0, []), (0, 0, []), (2, 1, [0, 0, 0, 0]),
      (2, .max, []), (1, 1, [1, 0]), (1, .max, [0, 0, 0, 0, 0, 0]),
    ] as [(UInt16, UInt16, [UInt8])] {
      let offset = whole.count
      try folder.write(whole + JournalBytes.record(kind: kind, 2, contents, message: message))
      #expect {
        try folder.replayed()
      } throws: {
        if case JournalError.malformed(offset, _) = $0 { true } else { false }
      }
    }
  }

  @Test("a file that defines a message twice is continued with numbers of its own")
  func definedTwice() throws {
    let folder = try Folder()
    try folder.write(1...1)
    let whole = try folder.bytes()
    try folder.write(whole + JournalBytes.record(kind: 1, 2, Array(whole[68...]), message: 1))
    let journal = try folder.open()
    _ = try Ledger.withdraw(0, on: journal)
    try Ledger.rename("2", on: journal)
    #expect(try folder.replayed().names == ["1", "1", "2"])
  }

  @Test("a sequence number without a successor is refused", arguments: [0, 1, 1 << 62])
  func largeNumbers(less: UInt64) throws {
    let folder = try Folder()
    try folder.write(JournalBytes.beginning(first: .max - less))
    #expect(throws: JournalError.self) { try folder.open() }
    #expect(throws: JournalError.self) { try folder.reader() }
    try folder.write(JournalBytes.beginning() + JournalBytes.record(kind: 2, .max - less))
    let reader = try folder.reader()
    #expect(throws: JournalError.self) { try reader.next() }
  }

  /// Journals that released versions wrote. They are kept for ever, and never written again:
  /// `RECORD_GOLDENS=1` writes only those that are missing.
  static let versions: [String] = ["0.1.0"]

  /// The calls of each kept journal, on an object that makes them.
  private static func calls(on object: some AnyObject) throws {
    try Ledger.rename("tea: grüße 👋", on: object)
    try Ledger.add(-5, 0.5, true, on: object)
    try Ledger.rename("", on: object)
    try Ledger.add(.max, .infinity, false, on: object)
    _ = try Ledger.withdraw(1, on: object)
  }

  private static func kept(_ version: String) throws -> [UInt8] {
    let file = Toolchain.package.appending(path: "Tests/Data/Versions/\(version)/ledger.journal")
    if Toolchain.records, !FileManager.default.fileExists(atPath: file.path) {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      let journal = try Journal(at: file.path, interface: Ledger.interface(), to: Ledger())
      try calls(on: journal)
      try journal.close()
    }
    return [UInt8](try Data(contentsOf: file))
  }

  @Test(
    "a journal of a released version is continued, and its calls do what they did",
    arguments: versions)
  func continuing(_ version: String) throws {
    let folder = try Folder()
    let kept = try Self.kept(version)
    try folder.write(kept)
    let journal = try folder.open()
    try Ledger.rename("later", on: journal)
    try journal.close()
    let bytes = try folder.bytes()
    #expect(bytes.starts(with: kept) && bytes.count > kept.count)
    let expected = Ledger()
    try Self.calls(on: expected)
    try Ledger.rename("later", on: expected)
    let replayed = try folder.replayed()
    #expect(replayed == expected && replayed.names == ["tea: grüße 👋", "", "later"])
  }

  @Test("the journal of every machine replays here, and can be continued")
  func otherMachines() throws {
    let (own, model) = (try Folder(), Ledger())
    let writer = try own.open()
    for number in 1...40 as ClosedRange<UInt64> {
      for target in [writer, model] as [AnyObject] { try Ledger.send(number, to: target) }
    }
    try writer.close()
    for (machine, bytes) in try MachineFiles.all("journal", own: own.bytes()) {
      let (folder, ledger) = (try Folder(), Ledger())
      try folder.write(bytes)
      let reader = try folder.reader()
      #expect(try reader.replay(Ledger.interface(), into: ledger) == 40, "\(machine)")
      #expect(ledger == model, "\(machine)")
      let journal = try folder.open()
      #expect(journal.nextSequence == 41)
      try Ledger.send(41, to: journal)
      #expect(try reader.replay(Ledger.interface(), into: ledger) == 1)
    }
  }

  @Test("the instruction and the table compute the same checksum")
  func checksums() {
    func both(_ bytes: [UInt8], _ before: UInt32 = 0) -> [UInt32] {
      [fwd_crc32c(before, bytes, bytes.count), fwd_crc32c_by_table(before, bytes, bytes.count)]
    }
    #expect(both(Array("123456789".utf8)) == [0xE306_9283, 0xE306_9283])
    #expect(both([]) == [0, 0])
    var random = SystemRandomNumberGenerator()
    for count in 0..<300 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      let sums = both(bytes)
      #expect(sums[0] == sums[1], "\(bytes)")
      // A checksum in two parts is the same.
      let middle = count / 3
      let first = both(Array(bytes[..<middle]))
      #expect(both(Array(bytes[middle...]), first[0]) == sums)
    }
  }
}
