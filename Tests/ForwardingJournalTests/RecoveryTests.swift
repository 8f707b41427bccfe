// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Invocations
import Testing
@testable import ForwardingJournal
@testable import ForwardingWire

@Suite("Interrupted writes, and large sequence numbers")
struct RecoveryTests {
  private static let keep = try! Message<NoResult, [UInt8]>("keep:")

  private static func interface() throws -> Interface {
    var interface = try Ledger.interface()
    try interface.allow(keep)
    return interface
  }

  /// Bytes that look like a journal: a whole journal, or headers of records of the maximum length.
  private func lookalikes() throws -> [[UInt8]] {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: Self.interface())
    for number in 1...4 { try Ledger.rename("\(number)", on: journal) }
    try journal.close()
    func little(_ number: UInt64, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }
    let long = little(0, 4) + little(16 << 20, 4) + little(3, 8) + little(0, 12)
    return [try folder.bytes(), Array(repeatElement(long, count: 5).joined())]
  }

  @Test("a torn record is cut at its beginning, whatever its arguments look like")
  func lookingLikeAJournal() throws {
    for argument in try lookalikes() {
      let folder = try Folder()
      let interface = try Self.interface()
      let journal = try Journal(at: folder.journal, interface: interface)
      try Self.keep([1], on: journal)
      let before = journal.size
      try Self.keep(argument, on: journal)
      try journal.close()
      let whole = try folder.bytes()
      for count in before + 1..<whole.count {
        try folder.write(Array(whole[..<count]))
        let again = try Journal(at: folder.journal, interface: interface)
        #expect(again.cut == count - before && again.size == before)
        #expect(again.nextSequence == 2)
      }
    }
  }

  @Test("the contents of a damaged record are not taken for the next record")
  func insideOfDamage() throws {
    let folder = try Folder()
    let interface = try Self.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    try Self.keep([1], on: journal)
    let (start, argument) = (journal.size, try lookalikes()[0])
    try Self.keep(argument, on: journal)
    let end = journal.size
    try Self.keep([2], on: journal)
    try journal.close()
    var bytes = try folder.bytes()
    bytes[end - 1] ^= 1
    try folder.write(bytes)
    let reader = try JournalReader(at: folder.journal)
    #expect(try reader.next()?.sequence == 1)
    #expect(throws: JournalError.damaged(offset: start, resumes: end)) { try reader.next() }
  }

  private func header(first: UInt64) throws -> [UInt8] {
    var writer = WireWriter(limit: 64)
    try JournalHeader(first: first, time: 0).write(to: &writer)
    return writer.bytes
  }

  @Test("a sequence number without a successor is refused", arguments: [0, 1, 1 << 62])
  func largeNumbers(less: UInt64) throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    try folder.write(header(first: .max - less))
    #expect(throws: JournalError.self) { try Journal(at: folder.journal, interface: interface) }
    #expect(throws: JournalError.self) { try JournalReader(at: folder.journal) }
    try folder.write(header(first: 1) + VersionTests.record(2, .max - less))
    let reader = try JournalReader(at: folder.journal)
    #expect(throws: JournalError.self) { try reader.next() }
  }
}
