// SPDX-License-Identifier: Apache-2.0
import CJournalShims
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import FuzzTargets
import Invocations
import Testing

@Suite("The file format as its page documents it")
struct FormatTests {
  private static let deposit = try! Message<NoResult, Int32, String>("deposit:from:")
  private static let time: Int64 = 1_700_000_000_000_000_000

  private func page() throws -> [UInt8] {
    try listing("hexadecimal", of: "Documentation/Journal.md")
  }

  @Test("the example is a journal of the documented call, which is recorded byte for byte")
  func example() throws {
    let (folder, page) = (try Folder(), try page())
    try folder.write(page)
    let reader = try folder.reader()
    let record = try #require(try reader.next())
    #expect(record.sequence == 1 && record.time == Self.time + 1_000_000)
    #expect(record.interface == "bank" && record.selector == "deposit:from:")
    #expect(record.encoding == "v@:i*")
    #expect(try record.values() == ["5", "\"tea\""])
    #expect(try reader.next() == nil && reader.torn == 0)

    let other = try Folder()
    var interface = Interface("bank")
    try interface.allow(Self.deposit)
    let journal = try Journal(at: other.journal, interface: interface)
    try Self.deposit(5, "tea", on: journal)
    try journal.close()
    let written = try other.bytes()
    func file(begun: Int64, _ time: Int64) -> [UInt8] {
      JournalBytes.beginning(time: begun)
        + JournalBytes.record(kind: 1, 1, Array(written[68...]), time: time)
    }
    let begun = written[20..<28].reversed().reduce(0) { $0 << 8 | Int64($1) }
    let time = try #require(try other.reader().next()).time
    #expect(written == file(begun: begun, time))
    #expect(page == file(begun: Self.time, Self.time + 1_000_000), "the times alone are others")
  }

  @Test("a file with other contents, or of another version, is refused with its reason as it is")
  func otherFiles() throws {
    let folder = try Folder()
    let (path, records) = (folder.journal, JournalBytes.record(kind: 2, 1))
    let texts = ["x", "\u{89}FWJ", "#!/bin/sh\necho a longer text that is no journal\n"]
    let versions = [0, 1, 3] as [UInt8]
    // A first number without a successor.
    let numbers = [0, 1, 1 << 62].map { JournalBytes.beginning(first: .max - $0) }
    let refused =
      (texts.map { Array($0.utf8) } + numbers).map { ($0, JournalError.notAJournal(path: path)) }
      + versions.map {
        (
          JournalBytes.beginning(version: $0) + records,
          JournalError.otherVersion(path: path, known: 2, given: Int($0))
        )
      }
    for (bytes, error) in refused {
      try folder.write(bytes)
      #expect(throws: error) { try folder.open() }
      #expect(throws: error) { try folder.reader() }
      #expect(try folder.bytes() == bytes)
    }
    #expect(throws: JournalError.self, "a folder") {
      try Journal(at: folder.path, interface: Ledger.interface())
    }
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
      (1, 4096, Array(whole[68...])),
    ] as [(UInt16, UInt16, [UInt8])] {
      let offset = whole.count
      try folder.write(whole + JournalBytes.record(kind: kind, 2, contents, message: message))
      #expect {
        try folder.replayed()
      } throws: {
        if case JournalError.malformed(offset, _) = $0 { true } else { false }
      }
    }
    // A number without a successor.
    for number in [.max, .max - 1, .max - 1 << 62] as [UInt64] {
      try folder.write(JournalBytes.beginning() + JournalBytes.record(kind: 2, number))
      let missing = JournalError.missing(offset: 32, expected: 1, given: number)
      #expect(throws: missing) { try folder.replayed() }
    }
  }

  @Test(
    "a file that defines a message twice is continued with numbers of its own, up to the last one",
    arguments: [1, 4094, 4095] as [UInt16])
  func definedTwice(number: UInt16) throws {
    let folder = try Folder()
    try folder.write(1...1)
    let whole = try folder.bytes()
    try folder.write(whole + JournalBytes.record(kind: 1, 2, Array(whole[68...]), message: number))
    let journal = try folder.open()
    _ = try Ledger.withdraw(0, on: journal)
    try Ledger.add(2, 0, false, on: journal)
    try Ledger.rename("2", on: journal)
    #expect(try folder.files.count == (number < 4094 ? 1 : 2), "4,096 messages fill a file")
    let replayed = try folder.replayed()
    #expect(replayed.names == ["1", "1", "2"] && replayed.balance == 2)
  }

  /// The calls of each kept journal, on an object that makes them.
  private static func calls(on object: some AnyObject) throws {
    try Ledger.rename("tea: grüße 👋", on: object)
    try Ledger.add(-5, 0.5, true, on: object)
    try Ledger.rename("", on: object)
    try Ledger.add(.max, .infinity, false, on: object)
    _ = try Ledger.withdraw(1, on: object)
  }

  /// Journals that released versions wrote. They are kept for ever, and never written again:
  /// `RECORD_GOLDENS=1` writes only those that are missing.
  @Test(
    "a journal of a released version is continued, and its calls do what they did",
    arguments: ["0.1.0"])
  func continuing(_ version: String) throws {
    let file = Toolchain.package.appending(path: "Tests/Data/Versions/\(version)/ledger.journal")
    if Toolchain.records, !FileManager.default.fileExists(atPath: file.path) {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      let journal = try Journal(at: file.path, interface: Ledger.interface(), to: Ledger())
      try Self.calls(on: journal)
      try journal.close()
    }
    let kept = [UInt8](try Data(contentsOf: file))
    let (folder, expected) = (try Folder(), Ledger())
    try folder.write(kept)
    let journal = try folder.open()
    try Self.calls(on: expected)
    for target in [journal, expected] as [AnyObject] { try Ledger.rename("later", on: target) }
    try journal.close()
    let bytes = try folder.bytes()
    #expect(bytes.starts(with: kept) && bytes.count > kept.count)
    let replayed = try folder.replayed()
    #expect(replayed == expected && replayed.names == ["tea: grüße 👋", "", "later"])
  }

  @Test("the instruction and the table compute the same checksum")
  func checksums() {
    func both(_ bytes: some Collection<UInt8>, _ before: UInt32 = 0) -> [UInt32] {
      let bytes = Array(bytes)
      return [
        fwd_crc32c(before, bytes, bytes.count), fwd_crc32c_by_table(before, bytes, bytes.count),
      ]
    }
    #expect(both("123456789".utf8) == [0xE306_9283, 0xE306_9283])
    #expect(both([]) == [0, 0])
    var random = SystemRandomNumberGenerator()
    for count in 0..<300 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      let sums = both(bytes)
      #expect(sums[0] == sums[1], "\(bytes)")
      // A checksum in two parts is the same.
      #expect(both(bytes[(count / 3)...], both(bytes[..<(count / 3)])[0]) == sums)
    }
  }
}
