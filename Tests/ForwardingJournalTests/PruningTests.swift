// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Testing

@Suite("Removing rotated files")
struct PruningTests {
  /// A journal of files with these first numbers, which stays open.
  private func journal(_ folder: Folder, rotatedFiles: Int? = nil) throws -> Journal {
    let journal = try folder.open(rotatedFiles: rotatedFiles)
    for number in 1...10 {
      try Ledger.rename("\(number)", on: journal)
      if number % 2 == 0 { try journal.rotate() }
    }
    return journal
  }

  private func firsts(_ folder: Folder) throws -> [Int] {
    try folder.files.compactMap { Int($0.dropFirst("a.journal.".count)) }
  }

  @Test("files are removed whose calls all have lower numbers, and readers begin behind them")
  func before() throws {
    for (sequence, left) in [
      (0, [1, 3, 5, 7, 9]), (2, [1, 3, 5, 7, 9]), (3, [3, 5, 7, 9]), (4, [3, 5, 7, 9]),
      (8, [7, 9]), (11, []), (.max, []),
    ] as [(UInt64, [Int])] {
      let folder = try Folder()
      let journal = try journal(folder)
      #expect(try journal.removeRotated(before: sequence) == 5 - left.count)
      #expect(try firsts(folder) == left, "before \(sequence)")
      try Ledger.rename("11", on: journal)
      #expect(try folder.replayed().names == ((left.first ?? 11)...11).map { "\($0)" })
      try journal.close()
      #expect(throws: JournalError.closed(path: folder.journal)) {
        try journal.removeRotated(before: 1)
      }
      #expect(try folder.open().nextSequence == 12)
    }
  }

  @Test("a rotation removes the oldest files beyond the limit", arguments: [-1, 0, 1, 3])
  func limit(most: Int) throws {
    let folder = try Folder()
    let journal = try journal(folder, rotatedFiles: most)
    #expect(try firsts(folder) == Array([1, 3, 5, 7, 9].suffix(max(0, most))))
    // By a full file, too.
    try journal.close()
    let full = try folder.open(rotation: 200, rotatedFiles: most)
    for number in 11...100 { try Ledger.rename("\(number)", on: full) }
    #expect(try firsts(folder).count == max(0, most))
    #expect(full.nextSequence == 101)
  }

  @Test("a reader of this process is told which records were removed before it read them")
  func readers() throws {
    let folder = try Folder()
    let journal = try journal(folder)
    try Ledger.rename("11", on: journal)
    let reader = try folder.reader()
    #expect(try reader.next()?.sequence == 1)
    try journal.removeRotated(before: 7)
    #expect(try reader.next()?.sequence == 2, "the file that it has open")
    let missing = JournalError.missing(offset: 0, expected: 3, given: 7)
    for _ in 0..<2 { #expect(throws: missing) { try reader.next() } }
    #expect(throws: missing) { try reader.replay(Ledger.interface(), into: Ledger()) }
    let skipped = try #require(try reader.skipDamage())
    #expect(skipped.path == folder.journal + ".000000000007" && skipped.bytes == 0..<0)
    #expect("\(skipped)".hasSuffix("000007: the records before this file are missing"))
    for number in 7...11 { #expect(try reader.next()?.sequence == UInt64(number)) }
    #expect(try reader.next() == nil)
  }

  @Test("a replay from a number that was removed throws, and one from the oldest does not")
  func replay() throws {
    let folder = try Folder()
    let journal = try journal(folder)
    try journal.removeRotated(before: 5)
    func made(from first: UInt64) throws -> Int {
      try folder.reader()
        .replay(Ledger.interface(), into: Ledger(), from: first)
    }
    #expect(try made(from: 0) == 6 && made(from: 5) == 6 && made(from: 9) == 2)
    #expect(throws: JournalError.missing(offset: 0, expected: 4, given: 5)) { try made(from: 4) }
  }

  @Test("a file that cannot be removed is an error, and files behind it stay")
  func unremovable() throws {
    let folder = try Folder()
    let journal = try journal(folder)
    let path = folder.journal + ".000000000003"
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    #expect {
      try journal.removeRotated(before: 9)
    } throws: {
      if case JournalError.system("removed", path, _) = $0 { true } else { false }
    }
    #expect(try firsts(folder) == [3, 5, 7, 9])
  }

  @Test("calls, rotations, removals and readers of many threads do not disturb each other")
  func together() async throws {
    let folder = try Folder()
    let path = folder.journal
    let journal = try folder.open(sync: .group, rotation: 1000, rotatedFiles: 3)
    try Ledger.rename("0", on: journal)
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<2 {
        group.addTask {
          for number in 0..<300 {
            do {
              try Ledger.rename("\(writer) \(number)", on: journal)
              if number % 40 == 39 { try journal.rotate() }
              if number % 60 == 59 { try journal.removeRotated(before: journal.nextSequence - 50) }
            } catch { Issue.record("\(error)") }
          }
        }
      }
      for _ in 0..<2 {
        group.addTask {
          do {
            let reader = try JournalReader(at: path)
            var last: UInt64 = 0
            while last < 601 {
              do {
                while let record = try reader.next() {
                  #expect(record.sequence > last)
                  last = record.sequence
                }
              } catch JournalError.missing {
                _ = try reader.skipDamage()
              }
            }
          } catch { Issue.record("\(error)") }
        }
      }
    }
    #expect(journal.nextSequence == 602)
  }
}
