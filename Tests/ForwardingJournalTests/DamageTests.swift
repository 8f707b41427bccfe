// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import Foundation
import Invocations
import Testing

@Suite("Damaged files")
struct DamageTests {
  /// The records that can be read, and how the reading ended.
  private func read(_ bytes: [UInt8], _ folder: Folder) throws -> (names: [String], end: String) {
    var names: [String] = []
    try folder.write(bytes)
    do {
      let reader = try folder.reader()
      while let record = try reader.next() { names += try record.values() }
      return (names, reader.torn == 0 ? "whole" : "torn")
    } catch JournalError.damaged {
      return (names, "damaged")
    } catch JournalError.notAJournal {
      return (names, "no journal")
    } catch JournalError.otherVersion {
      return (names, "newer")
    } catch {
      return (names, "\(error)")
    }
  }

  private func texts(_ numbers: ClosedRange<Int>) -> [String] { numbers.map { "\"\($0)\"" } }

  @Test(
    "a file truncated at any byte has all records before it, and is torn after the last whole one")
  func everyCut() throws {
    let folder = try Folder()
    let starts = try folder.write(1...10)
    let bytes = try folder.bytes()
    for count in 32...bytes.count {
      let (names, end) = try read(Array(bytes[..<count]), folder)
      let whole = starts.dropFirst().count { $0 <= count }
      #expect(names == (whole == 0 ? [] : texts(1...whole)), "\(count)")
      // The definition of the message precedes the first record, and is torn without that record.
      let isBetween = count == 32 || starts.dropFirst().contains(count)
      #expect(end == (isBetween ? "whole" : "torn"), "\(count)")
    }
    for count in 0..<32 {
      #expect(try read(Array(bytes[..<count]), folder).end == "no journal")
    }
  }

  @Test(
    "a flipped bit in the last record loses it, one in front of it is damage, and nothing is cut")
  func everyBit() throws {
    let folder = try Folder()
    let starts = try folder.write(1...10)
    let bytes = try folder.bytes()
    for index in bytes.indices {
      let record = starts.lastIndex { $0 <= index } ?? -1
      let place: Comment = "byte \(index)"
      var other = bytes
      other[index] ^= 1 << UInt8(index % 8)
      let (names, end) = try read(other, folder)
      guard record >= 0 else {
        #expect(["no journal", "newer"].contains(end), place)
        continue
      }
      #expect(names == (record == 0 ? [] : texts(1...record)), place)
      #expect(end == (record == 9 ? "torn" : "damaged"), place)
      guard record == 4 else { continue }
      #expect(throws: JournalError.damaged(offset: starts[4], resumes: starts[5]), place) {
        try folder.open()
      }
      #expect(try folder.bytes() == other, "nothing was changed")
    }
  }

  @Test("a file with other contents is refused and not changed")
  func otherFiles() throws {
    let folder = try Folder()
    for text in ["x", "\u{89}FWJ", "#!/bin/sh\necho a longer text that is no journal\n"] {
      try folder.write(Array(text.utf8))
      #expect {
        try folder.open()
      } throws: {
        $0 as? JournalError == .notAJournal(path: folder.journal)
      }
      #expect(try folder.bytes() == Array(text.utf8))
    }
    #expect(throws: JournalError.self) {
      try Journal(at: folder.path, interface: Ledger.interface())
    }
  }

  @Test("a gap in the sequence numbers is reported as missing records")
  func missing() throws {
    let folder = try Folder()
    let starts = try folder.write(1...10)
    let bytes = try folder.bytes()
    let (names, end) = try read(Array(bytes[..<starts[3]]) + bytes[starts[4]...], folder)
    #expect(names == texts(1...3))
    #expect(end.contains("4 is expected"))
    // All of it is read, or named as left out.
    let reader = try folder.reader()
    let reading = try Reading(reader)
    #expect(starts[0] + reading.covered == reader.size && reader.torn == 0)
    #expect(!reading.skipped.isEmpty)
  }

  private static let keep = try! Message<NoResult, [UInt8]>("keep:")

  /// A journal of two short arguments with a long one between them. Returns the offsets of the
  /// second and the third call.
  private func write(_ argument: [UInt8], _ folder: Folder) throws -> (start: Int, end: Int) {
    var interface = Interface("keeper")
    try interface.allow(Self.keep)
    let journal = try Journal(at: folder.journal, interface: interface)
    try Self.keep([1], on: journal)
    let start = journal.size
    try Self.keep(argument, on: journal)
    let end = journal.size
    try Self.keep([2], on: journal)
    try journal.close()
    return (start, end)
  }

  @Test("arguments that look like a journal are taken for no records, torn or damaged")
  func lookalikes() throws {
    let other = try Folder()
    try other.write(1...4)
    // A whole journal, and headers of records of the maximum length.
    let long = JournalBytes.little(0, 4) + JournalBytes.little(16 << 20, 4)
    let header = long + JournalBytes.little(3, 8) + JournalBytes.little(0, 12)
    for argument in try [other.bytes(), Array(repeatElement(header, count: 5).joined())] {
      let folder = try Folder()
      let (start, end) = try write(argument, folder)
      var bytes = try folder.bytes()
      for count in start + 1..<end {
        try folder.write(Array(bytes[..<count]))
        let again = try folder.open()
        #expect(again.cut == count - start && again.size == start && again.nextSequence == 2)
      }
      bytes[end - 1] ^= 1
      try folder.write(bytes)
      let reader = try folder.reader()
      #expect(try reader.next()?.sequence == 1)
      #expect(throws: JournalError.damaged(offset: start, resumes: end)) { try reader.next() }
    }
  }
}
