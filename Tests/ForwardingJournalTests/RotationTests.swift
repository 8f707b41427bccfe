// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Testing

@Suite("Rotations")
struct RotationTests {
  @Test("a journal in many files is read as one, and continues in the last")
  func rotation() throws {
    let folder = try Folder()
    let ledger = Ledger()
    for _ in 0..<2 {
      let journal = try folder.open(to: ledger, rotation: 1100)
      for number in 0..<100 { try Ledger.rename("\(number)", on: journal) }
      try journal.close()
    }
    let names = try folder.files
    #expect(names.count > 5 && names.first == "a.journal")
    #expect(names.allSatisfy { $0.hasPrefix("a.journal") && !$0.hasSuffix("~") })
    #expect(try folder.replayed() == ledger && folder.open().nextSequence == 201)
  }

  @Test("a reader at the end continues in the next file")
  func following() throws {
    let folder = try Folder()
    let journal = try folder.open()
    let reader = try folder.reader()
    for number in 1...20 {
      #expect(try reader.next() == nil)
      try Ledger.rename("\(number)", on: journal)
      if number % 3 == 0 { try journal.rotate() }
      #expect(try reader.next()?.sequence == UInt64(number))
    }
    try journal.close()
  }

  @Test("a partial record that was cut and overwritten is read with its new contents")
  func writtenOver() throws {
    let folder = try Folder()
    try folder.write(1...1)
    let whole = try folder.bytes()
    // In place, so that the reader has the same file.
    let file = try #require(FileHandle(forUpdatingAtPath: folder.journal))
    try file.seekToEnd()
    file.write(Data(whole.suffix(37).prefix(34)))
    let reader = try folder.reader()
    #expect(try reader.next()?.sequence == 1)
    #expect(try reader.next() == nil && reader.torn == 34)
    let again = try folder.open()
    try Ledger.rename("2", on: again)
    #expect(try reader.next()?.values() == ["\"2\""])
    #expect(try reader.next() == nil && reader.torn == 0)
  }
}
