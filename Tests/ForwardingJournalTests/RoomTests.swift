import ForwardingTestSupport
import Foundation
import Testing
@testable import ForwardingJournal

@Suite("Room behind the records")
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

  /// What the system keeps of a file beside its bytes: how long it is, and how many blocks it has.
  private func facts(_ folder: Folder) -> [Int] {
    var facts = stat()
    stat(folder.journal, &facts)
    return [Int(facts.st_size), Int(facts.st_blocks)]
  }

  @Test(
    "a record that waits for the disk changes neither the length of its file nor its blocks",
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

  @Test("room is cut when the journal is closed or released, and there is none without a wait")
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

  @Test("more room is made when it is used up, also by a record that is longer")
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

  @Test("the next writer uses the room that a killed one left; one that does not wait cuts it")
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

  @Test("files that are put aside or made smaller keep no room, and the new ones have their own")
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

  @Test("room is not more than what a file has before it is put aside")
  func smallFiles() throws {
    let folder = try Folder()
    let journal = try journal(folder, .group, rotation: 5000)
    try Ledger.rename("1", on: journal)
    #expect(facts(folder)[0] <= 5000)
  }

  @Test("a file without room from before is written on without, until another one takes its place")
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

  @Test("a child that lets go of its parent's journal cuts nothing")
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

  @Test("a full disk has no room to give: what fits is written, what does not is refused")
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
        // There is room again, and not more than there would have been.
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
