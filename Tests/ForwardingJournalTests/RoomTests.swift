// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Testing
@testable import ForwardingJournal

@Suite("Preallocated zeros")
struct RoomTests {
  private static let kinds = [JournalOptions.Sync.each, .group]

  private func journal(
    _ folder: Folder, _ sync: JournalOptions.Sync, rotation: Int? = nil
  ) throws -> Journal {
    var options = JournalOptions()
    options.sync = sync
    options.rotation = rotation
    return try Journal(at: folder.journal, interface: Ledger.interface(), options)
  }

  private func names(_ folder: Folder) throws -> [String] {
    let ledger = Ledger()
    try JournalReader(at: folder.journal).replay(Ledger.interface(), into: ledger)
    return ledger.names
  }

  /// The metadata of a file that a sync may have to write: its size and its number of blocks.
  private func facts(_ folder: Folder) -> [Int] {
    var facts = stat()
    stat(folder.journal, &facts)
    return [Int(facts.st_size), Int(facts.st_blocks)]
  }

  @Test(
    "a synced record changes neither the length of its file nor its blocks",
    arguments: kinds)
  func nothingElse(sync: JournalOptions.Sync) throws {
    let folder = try Folder()
    let journal = try journal(folder, sync)
    try Ledger.rename("0", on: journal)
    let before = facts(folder)
    #expect(before[0] > journal.size)
    for number in 1...50 { try Ledger.rename("\(number)", on: journal) }
    #expect(facts(folder) == before)
    #expect(try names(folder) == (0...50).map { "\($0)" }, "a reader takes room for the end")
  }

  @Test("zeros are cut when the journal is closed or released, and not preallocated without syncs")
  func trimming() throws {
    for sync in Self.kinds + [.never] {
      let folder = try Folder()
      for isClosed in [true, false] {
        do {
          let journal = try journal(folder, sync)
          try Ledger.rename("1", on: journal)
          #expect((facts(folder)[0] > journal.size) == (sync != .never))
          if isClosed { try journal.close() }
        }
        let reader = try JournalReader(at: folder.journal)
        while try reader.next() != nil {}
        #expect(try folder.bytes().count == reader.offset && reader.tail == .whole)
      }
      #expect(try names(folder) == ["1", "1"])
    }
  }

  @Test("more zeros are preallocated when they are used up, also by a record that is longer")
  func more() throws {
    let folder = try Folder()
    let journal = try journal(folder, .group)
    let long = [1, 300_000, 5, 262_000, 600_000, 3].map { String(repeating: "x", count: $0) }
    for name in long {
      try Ledger.rename(name, on: journal)
      #expect(
        facts(folder)[0] >= journal.size && facts(folder)[0] <= journal.size + JournalRoom.most)
    }
    #expect(try names(folder) == long)
    try journal.close()
    #expect(try names(folder) == long)
  }

  @Test("the next syncing writer uses the zeros of a killed one; a writer without syncs cuts them")
  func killed() throws {
    for next in Self.kinds + [.never] {
      let folder = try Folder()
      let journal = try journal(folder, .group)
      for name in ["1", "2"] { try Ledger.rename(name, on: journal) }
      let (left, size) = (try folder.bytes(), journal.size)
      try journal.close()
      try folder.write(left)
      let again = try self.journal(folder, next)
      #expect(again.cut == .whole && again.size == size)
      #expect(facts(folder)[0] == (next == .never ? size : left.count))
      try Ledger.rename("3", on: again)
      if next != .never { #expect(facts(folder)[0] == left.count) }
      try again.close()
      #expect(try names(folder) == ["1", "2", "3"])
      #expect(try JournalReader(at: folder.journal).scanner.header.tellsUnsynced)
    }
  }

  @Test("rotated and compacted files have no zeros left, and the new files have their own")
  func files() throws {
    let folder = try Folder()
    let journal = try journal(folder, .each)
    for name in ["1", "2"] { try Ledger.rename(name, on: journal) }
    let size = journal.size
    try journal.rotate()
    #expect(try folder.bytes("a.journal.000000000001").count == size)
    for name in ["3", "4"] { try Ledger.rename(name, on: journal) }
    #expect(facts(folder)[0] > journal.size)
    try journal.compact { $0.sequence != 3 }
    #expect(facts(folder)[0] == journal.size)
    try Ledger.rename("5", on: journal)
    #expect(facts(folder)[0] > journal.size)
    #expect(try names(folder) == ["1", "2", "4", "5"])
    try journal.close()
    #expect(try names(folder) == ["1", "2", "4", "5"])
  }

  @Test("not more zeros are preallocated than a file holds before its rotation")
  func smallFiles() throws {
    let folder = try Folder()
    let journal = try journal(folder, .group, rotation: 5000)
    try Ledger.rename("1", on: journal)
    #expect(facts(folder)[0] <= 5000)
  }

  @Test("an older file without zeros is written without them until another file replaces it")
  func older() throws {
    let folder = try Folder()
    let before = try journal(folder, .never)
    try Ledger.rename("1", on: before)
    try before.close()
    let journal = try journal(folder, .group)
    try Ledger.rename("2", on: journal)
    #expect(facts(folder)[0] == journal.size)
    try journal.compact { _ in true }
    try Ledger.rename("3", on: journal)
    #expect(facts(folder)[0] > journal.size)
    #expect(try names(folder) == ["1", "2", "3"])
  }

  @Test("a child that releases its parent's journal cuts nothing")
  func forked() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      var journal: Journal? = try RoomTests().journal(folder, .group)
      try Ledger.rename("1", on: journal!)
      let size = try folder.bytes().count
      let child = Child { journal = nil }
      require(child.wait() == 0)
      require(try folder.bytes().count == size && size > journal!.size)
      _exit(0)
    }
  }

  @Test("a full disk preallocates nothing: records that fit are written, others are refused")
  func fullDisk() async {
    await #expect(processExitsWith: .success) {
      for sync in RoomTests.kinds {
        let folder = try Folder()
        let tests = RoomTests()
        let ledger = Ledger()
        var options = JournalOptions()
        options.sync = sync
        let journal = try Journal(
          at: folder.journal, interface: Ledger.interface(), to: ledger, options)
        SystemCall.limitFiles(to: 5000)
        var written: UInt64 = 0
        do {
          while true {
            try FaultTests.send(written + 1, to: journal)
            written += 1
          }
        } catch JournalError.system("written", _, EFBIG) {}
        require(written > 50 && journal.size > 4900 && tests.facts(folder)[0] == journal.size)
        SystemCall.limitFiles(to: nil)
        for _ in 0..<2 {
          written += 1
          try FaultTests.send(written, to: journal)
        }
        // Zeros are preallocated again, and not more than usual.
        require(tests.facts(folder)[0] <= JournalRoom.most, "\(tests.facts(folder))")
        try journal.close()
        let (other, model) = (Ledger(), Ledger())
        try JournalReader(at: folder.journal).replay(Ledger.interface(), into: other)
        for number in 1...written { try FaultTests.send(number, to: model) }
        require(other == model && ledger == model)
      }
      _exit(0)
    }
  }
}
