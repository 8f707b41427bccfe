// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Testing

@Suite("Rotations and compactions")
struct RotationTests {
  private func files(_ folder: Folder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  @Test("a journal in many files is read as one, and continues in the last")
  func rotation() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    var options = JournalOptions()
    options.rotation = 1100
    let ledger = Ledger()
    for _ in 0..<2 {
      let journal = try Journal(at: folder.journal, interface: interface, to: ledger, options)
      for number in 0..<100 { try Ledger.rename("\(number)", on: journal) }
      try journal.close()
    }
    let names = try files(folder)
    #expect(names.count > 5 && names.first == "a.journal")
    #expect(names.allSatisfy { $0.hasPrefix("a.journal") && !$0.hasSuffix("~") })
    let other = Ledger()
    let reader = try JournalReader(at: folder.journal)
    #expect(try reader.replay(interface, into: other).made == 200)
    #expect(other == ledger && reader.nextSequence == 201)
    let newest = try JournalReader(at: folder.journal, includingOlder: false)
    let first = try #require(try newest.next()?.sequence)
    #expect(first > 150 && first <= 200)
  }

  @Test("a missing rotated file is reported")
  func missingFile() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    for number in 0..<4 {
      try Ledger.rename("\(number)", on: journal)
      try journal.rotate()
    }
    try journal.close()
    try FileManager.default.removeItem(atPath: folder.journal + ".000000000002")
    #expect {
      try JournalReader(at: folder.journal).replay(interface, into: Ledger())
    } throws: {
      guard case JournalError.missing(_, 2, 3) = $0 else {
        Issue.record("\($0)")
        return false
      }
      return true
    }
  }

  @Test("a rotated file that is torn is damaged: it is not cut, and nothing is written after it")
  func tornOlder() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    for number in 1...2 { try Ledger.rename("\(number)", on: journal) }
    let start = journal.size
    try Ledger.rename("3", on: journal)
    try journal.rotate()
    try Ledger.rename("4", on: journal)
    try journal.close()
    let aside = "a.journal.000000000001"
    let whole = try folder.bytes(aside)
    let damaged = JournalError.damaged(offset: start, resumes: nil)
    for count in [start + 1, start + 32, whole.count - 1] {
      try folder.write(Array(whole[..<count]), aside)
      let reader = try JournalReader(at: folder.journal)
      for number in 1...2 { #expect(try reader.next()?.sequence == UInt64(number)) }
      #expect(throws: damaged) { try reader.next() }
      let ledger = Ledger()
      #expect(throws: damaged) {
        try JournalReader(at: folder.journal).replay(interface, into: ledger)
      }
      #expect(ledger.names == [])
    }
  }

  @Test("a process that dies during a rotation leaves each call once")
  func halfway() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    for number in 0..<4 { try Ledger.rename("\(number)", on: journal) }
    try journal.close()
    // The file has both names for a moment, and the next file is begun.
    try FileManager.default.linkItem(
      atPath: folder.journal, toPath: folder.journal + ".000000000001")
    try folder.write([], "a.journal.rotating~")
    let ledger = Ledger()
    #expect(try JournalReader(at: folder.journal).replay(interface, into: ledger).made == 4)
    let again = try Journal(at: folder.journal, interface: interface)
    try Ledger.rename("4", on: again)
    try again.rotate()
    try Ledger.rename("5", on: again)
    try again.close()
    let other = Ledger()
    try JournalReader(at: folder.journal).replay(interface, into: other)
    #expect(other.names == ["0", "1", "2", "3", "4", "5"])
  }

  @Test("a reader at the end continues in the next file")
  func following() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    let reader = try JournalReader(at: folder.journal)
    for number in 1...20 {
      #expect(try reader.next() == nil)
      try Ledger.rename("\(number)", on: journal)
      if number % 3 == 0 { try journal.rotate() }
      #expect(try reader.next()?.sequence == UInt64(number))
    }
    try journal.close()
  }

  @Test("a reader of a file that is being written sees whole records, and no damage")
  func readingMeanwhile() throws {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    let count = 20_000
    let writer = Thread {
      for number in 1...count {
        let name = String(repeating: "x", count: number % 300)
        _ = try? Ledger.rename(name, on: journal)
      }
    }
    writer.start()
    let reader = try JournalReader(at: folder.journal)
    var last: UInt64 = 0
    let end = Date() + 300
    while last < UInt64(count), Date() < end {
      while let record = try reader.next() {
        #expect(
          record.sequence == last + 1 && record.arguments.count == 4 + Int(record.sequence) % 300)
        last = record.sequence
      }
    }
    #expect(last == UInt64(count))
  }

  @Test("a partial record that was cut and overwritten is read with its new contents")
  func writtenOver() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    try Ledger.rename("1", on: journal)
    try journal.close()
    let whole = try folder.bytes()
    // In place, so that the reader has the same file.
    let file = try #require(FileHandle(forUpdatingAtPath: folder.journal))
    try file.seekToEnd()
    file.write(Data(whole.suffix(33).prefix(30)))
    let reader = try JournalReader(at: folder.journal)
    #expect(try reader.next()?.sequence == 1)
    #expect(try reader.next() == nil && reader.tail != .whole)
    let again = try Journal(at: folder.journal, interface: interface)
    try Ledger.rename("2", on: again)
    #expect(try reader.next()?.values() == [.text("2")])
    #expect(try reader.next() == nil && reader.tail == .whole)
  }

  @Test("a reader at the end of a file continues in the compacted file that replaces it")
  func followingCompaction() throws {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    let reader = try JournalReader(at: folder.journal)
    for number in 1...20 {
      try Ledger.rename("\(number)", on: journal)
      #expect(try reader.next()?.sequence == UInt64(number))
      if number % 5 == 0 { try journal.compact { $0.sequence % 2 == 0 } }
    }
    try journal.compact { $0.sequence < 3 }
    #expect(try reader.next() == nil)
    try Ledger.rename("21", on: journal)
    #expect(try reader.next()?.sequence == 21)
  }

  @Test("if a rotation fails, the file stays, and the call that filled it is made")
  func refusedRotation() throws {
    let folder = try Folder()
    let ledger = Ledger()
    var options = JournalOptions()
    options.rotation = 200
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface, to: ledger, options)
    try FileManager.default.createDirectory(
      atPath: folder.journal + ".rotating~", withIntermediateDirectories: false)
    for number in 1...20 { try Ledger.rename("\(number)", on: journal) }
    #expect(ledger.names.count == 20)
    #expect(throws: JournalError.self) { try journal.rotate() }
    try journal.close()
    let other = Ledger()
    try JournalReader(at: folder.journal).replay(interface, into: other)
    #expect(other == ledger)
  }

  @Test("a compacted file has the retained calls, and the journal continues after them")
  func compaction() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    for number in 1...100 {
      try Ledger.rename("\(number)", on: journal)
      try Ledger.add(Int64(number), 1, true, on: journal)
    }
    let before = journal.size
    #expect(try journal.compact { $0.selector == "rename:" && $0.sequence > 100 } == 150)
    #expect(journal.size < before / 3)
    #expect(journal.nextSequence == 201)
    try Ledger.rename("more", on: journal)
    try journal.close()
    #expect(try files(folder) == ["a.journal"])
    let again = try Journal(at: folder.journal, interface: interface)
    #expect(again.nextSequence == 202)
    // No call is retained, and still no sequence number is reused.
    #expect(try again.compact { _ in false } == 51)
    #expect(again.nextSequence == 202)
    try again.close()
    let empty = try Journal(at: folder.journal, interface: interface)
    #expect(empty.nextSequence == 202)
    try Ledger.rename("last", on: empty)
    try empty.close()
    let reader = try JournalReader(at: folder.journal)
    #expect(try reader.next()?.sequence == 202)
  }

  @Test("a rule that throws leaves the file unchanged")
  func refusingRule() throws {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    for number in 1...10 { try Ledger.rename("\(number)", on: journal) }
    let bytes = try folder.bytes()
    #expect(throws: Ledger.Overdrawn.self) {
      try journal.compact { record in
        if record.sequence == 5 { throw Ledger.Overdrawn() }
        return true
      }
    }
    #expect(try folder.bytes() == bytes)
    #expect(try files(folder) == ["a.journal"])
    try Ledger.rename("11", on: journal)
    #expect(try journal.compact { _ in true } == 0)
    #expect(journal.nextSequence == 12)
  }

  @Test("a rule that compacts or rotates is refused, and causes no deadlock")
  func nestedRule() throws {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    try Ledger.rename("1", on: journal)
    let inUse = JournalError.inUse(path: folder.journal)
    let dropped = try journal.compact { _ in
      #expect(throws: inUse) { try journal.compact { _ in true } }
      #expect(throws: inUse) { try journal.rotate() }
      return false
    }
    #expect(dropped == 1)
    try journal.rotate()
  }

  @Test("calls recorded during a compaction are retained")
  func concurrently() throws {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    for number in 1...100 { try Ledger.rename("\(number)", on: journal) }
    let dropped = try journal.compact { record in
      if record.sequence % 10 == 0 { try Ledger.rename("meanwhile", on: journal) }
      return record.sequence % 2 == 0
    }
    #expect(dropped == 50 && journal.nextSequence == 111)
    let reader = try JournalReader(at: folder.journal)
    var count = 0
    while try reader.next() != nil { count += 1 }
    #expect(count == 60)
  }
}
