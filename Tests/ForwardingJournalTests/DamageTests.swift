// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import Foundation
import Testing

@Suite("Damaged files")
struct DamageTests {
  /// A journal of ten calls: its bytes, the offset of each record, and the offset of the end.
  private func written(_ folder: Folder) throws -> (bytes: [UInt8], starts: [Int]) {
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    for number in 1...10 { try Ledger.rename("\(number)", on: journal) }
    try journal.close()
    let reader = try JournalReader(at: folder.journal)
    var starts: [Int] = []
    while let record = try reader.next() { starts.append(record.offset) }
    let bytes = try folder.bytes()
    return (bytes, starts + [bytes.count])
  }

  /// The records that can be read, and how the reading ended.
  private func read(_ bytes: [UInt8], _ folder: Folder) throws -> (names: [String], end: String) {
    var names: [String] = []
    try folder.write(bytes)
    do {
      let reader = try JournalReader(at: folder.journal)
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
    let (bytes, starts) = try written(folder)
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
    let interface = try Ledger.interface()
    let (bytes, starts) = try written(folder)
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
        try Journal(at: folder.journal, interface: interface)
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
        try Journal(at: folder.journal, interface: Ledger.interface())
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
    let (bytes, starts) = try written(folder)
    let (names, end) = try read(Array(bytes[..<starts[3]]) + bytes[starts[4]...], folder)
    #expect(names == texts(1...3))
    #expect(end.contains("4 is expected"))
    // All of it is read, or named as left out.
    let reader = try JournalReader(at: folder.journal)
    var (read, leftOut) = (0, 0)
    while true {
      let start = reader.offset
      if let _ = try? reader.next() {
        read += reader.offset - start
      } else {
        guard let skipped = try reader.skipDamage() else { break }
        leftOut += skipped.bytes.count
      }
    }
    #expect(leftOut > 0 && starts[0] + read + leftOut == reader.size && reader.torn == 0)
  }
}
