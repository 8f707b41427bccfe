// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Glibc
import Testing
import TypeEncodings

@Suite("The files of a journal")
struct FilesTests {
  /// A journal of five files with two calls each, and an open one.
  private func journal(_ folder: Folder) throws -> Journal {
    let journal = try folder.open()
    for number in 1...10 {
      try Ledger.rename("\(number)", on: journal)
      if number % 2 == 0 { try journal.rotate() }
    }
    return journal
  }

  private func firsts(_ folder: Folder) throws -> [Int] {
    try folder.files.compactMap { Int($0.dropFirst("a.journal.".count)) }
  }

  // MARK: Rotations and removals

  @Test(
    "full files are rotated, private and read as one, and the oldest beyond the limit are removed",
    arguments: [nil, -1, 0, 1, 3])
  func full(most: Int?) throws {
    let (folder, ledger) = (try Folder(), Ledger())
    for _ in 0..<2 {
      let journal = try folder.open(to: ledger, rotation: 1100, rotatedFiles: most)
      for number in 0..<100 { try Ledger.rename("\(number)", on: journal) }
      try journal.close()
    }
    let firsts = try firsts(folder)
    #expect(most.map { firsts.count == max(0, $0) } ?? (firsts.count > 4))
    #expect(try folder.files == ["a.journal"] + firsts.map { Folder.rotated($0) })
    for name in try folder.files {
      var status = stat()
      #expect(stat("\(folder.path)/\(name)", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
    let first = Int(try folder.reader().nextSequence)
    #expect(try folder.replayed().names == Array(ledger.names[(first - 1)...]))
    #expect(try folder.open().nextSequence == 201)
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

  @Test(
    "files are removed whose calls all have lower numbers, and readers and replays begin behind them"
  )
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
      let first = UInt64(left.first ?? 11)
      #expect(try folder.replayed().names == (first...11).map { "\($0)" })
      func replay(from number: UInt64) throws -> Int {
        try folder.reader().replay(Ledger.interface(), into: Ledger(), from: number)
      }
      #expect(try replay(from: first) == 12 - Int(first) && replay(from: 11) == 1)
      if first > 1 {
        let missing = JournalError.missing(offset: 0, expected: first - 1, given: first)
        #expect(throws: missing) { try replay(from: first - 1) }
      }
      try journal.close()
      #expect(throws: JournalError.closed(path: folder.journal)) {
        try journal.removeRotated(before: 1)
      }
      #expect(try folder.open().nextSequence == 12)
    }
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
    #expect(skipped.path == "\(folder.path)/\(Folder.rotated(7))" && skipped.bytes == 0..<0)
    #expect("\(skipped)".hasSuffix("000007: the records before this file are missing"))
    for number in 7...11 { #expect(try reader.next()?.sequence == UInt64(number)) }
    #expect(try reader.next() == nil)
  }

  @Test("a file that cannot be removed is an error, and files behind it stay")
  func unremovable() throws {
    let folder = try Folder()
    let journal = try journal(folder)
    try folder.remove(Folder.rotated(3))
    let path = "\(folder.path)/\(Folder.rotated(3))"
    #expect(mkdir(path, 0o700) == 0)
    let failure = JournalError.system("removed", path: path, code: EISDIR)
    #expect(throws: failure) { try journal.removeRotated(before: 9) }
    #expect(try firsts(folder) == [3, 5, 7, 9])
    try journal.close()
    let limited = try folder.open(rotatedFiles: 1)
    try Ledger.rename("11", on: limited)
    #expect(throws: failure) { try limited.rotate() }
    try Ledger.rename("12", on: limited)
    #expect(try firsts(folder) == [3, 5, 7, 9, 11])
  }

  @Test(
    "a journal that is closed or released is free for others, even if a forked child still has its file",
    arguments: [false, true])
  func forked(isClosed: Bool) async {
    await #expect(processExitsWith: .success) { [isClosed] in
      let folder = try Folder()
      var journal: Journal? = try folder.open()
      let child = Child { while true { pause() } }
      defer { child.kill() }
      if isClosed { try journal?.close() }
      journal = nil
      _ = try folder.open()
    }
  }

  @Test("a call is refused while its file cannot be rotated, and recorded once it can")
  func failedRotation() throws {
    let (folder, ledger) = (try Folder(), Ledger())
    let journal = try folder.open(to: ledger, rotation: 200)
    let aside = "\(folder.path)/\(Folder.rotated(1))"
    #expect(mkdir(aside, 0o700) == 0)
    while (try? Ledger.rename("\(ledger.names.count + 1)", on: journal)) != nil {}
    let made = ledger.names.count
    #expect {
      try Ledger.rename("refused", on: journal)
    } throws: {
      if case JournalError.system("linked", _, EEXIST) = $0 { true } else { false }
    }
    #expect(made > 1 && journal.nextSequence == UInt64(made) + 1 && rmdir(aside) == 0)
    for number in 1...10 { try Ledger.rename("\(made + number)", on: journal) }
    #expect(try folder.replayed() == ledger)
    #expect(ledger.names == (1...made + 10).map { "\($0)" })
  }

  @Test("calls, rotations, removals and readers of many threads do not disturb each other")
  func together() async throws {
    let folder = try Folder()
    let path = folder.journal
    let journal = try folder.open(sync: .group, rotation: 1000, rotatedFiles: 3)
    try Ledger.rename("0", on: journal)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<2 {
        group.addTask {
          for number in 0..<300 {
            try Ledger.rename("\(writer) \(number)", on: journal)
            if number % 40 == 39 { try journal.rotate() }
            if number % 60 == 59 { try journal.removeRotated(before: journal.nextSequence - 50) }
          }
        }
        group.addTask {
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
        }
      }
      try await group.waitForAll()
    }
    #expect(journal.nextSequence == 602)
  }

  // MARK: Names

  private static let losses: [(name: String, lose: @Sendable (Folder) throws -> Void)] = [
    ("removed", { try $0.remove("a.journal") }),
    ("truncated", { truncate($0.journal, 40) }),
    ("renamed", { rename($0.journal, $0.journal + ".1") }),
    (
      "a copy in its place",
      {
        try $0.write($0.bytes(), "b"); rename($0.path + "/b", $0.journal)
      }
    ),
    (
      "notes in its place",
      {
        rename($0.journal, $0.path + "/kept"); try $0.write(Array("notes".utf8))
      }
    ),
    ("its folder", { rename($0.path, $0.path + "x") }),
  ]

  @Test(
    "the next use of a file that lost its name throws, changes nothing, and closes the journal",
    arguments: ["append", "rotate", "remove"], [JournalOptions.Sync.group, .never])
  func losing(use: String, sync: JournalOptions.Sync) throws {
    for (name, lose) in Self.losses {
      let folder = try Folder()
      defer { try? FileManager.default.removeItem(atPath: folder.path + "x") }
      let ledger = Ledger()
      let journal = try folder.open(to: ledger, sync: sync)
      try Ledger.send(1, to: journal)
      try lose(folder)
      let files = try? folder.files.map { ($0, try folder.bytes($0)) }
      // At each append, the path is checked at most once in this time.
      if sync == .never || name == "truncated" { usleep(20_000) }
      let displaced = JournalError.displaced(path: folder.journal)
      #expect(throws: displaced, "\(name)") {
        switch use {
        case "append": try Ledger.send(2, to: journal)
        case "rotate": try journal.rotate()
        default: try journal.removeRotated(before: 9)
        }
      }
      #expect(throws: JournalError.closed(path: folder.journal)) {
        try Ledger.send(3, to: journal)
      }
      #expect(ledger.balance == 1, "the call was made")
      #expect(throws: displaced) { try journal.close() }
      for (name, bytes) in files ?? [] where use != "append" || sync == .never {
        #expect(try folder.bytes(name) == bytes, "\(name)")
      }
      #expect((try? folder.files) == files?.map(\.0))
    }
  }

  @Test(
    "files are known by what old kernels tell, where the system refuses newer calls",
    .notEmulated("no ptrace"), .machine(.x86_64Linux))
  func oldKernel() async {
    await #expect(processExitsWith: .success) {
      for (name, lose) in FilesTests.losses {
        let folder = try Folder()
        let status = try SystemCall.trace({
          let journal = try folder.open()
          for number in 1...3 { try Ledger.rename("\(number)", on: journal) }
          try journal.rotate()
          try Ledger.rename("4", on: journal)
          require(try folder.replayed().names == ["1", "2", "3", "4"])
          try lose(folder)
          do { try journal.rotate() } catch JournalError.displaced { _exit(7) }
        }) { $0.name == "facts" && $0.result == nil ? .fails(EPERM) : .go }
        try? FileManager.default.removeItem(atPath: folder.path + "x")
        require(status == 7, "\(name): \(status)")
      }
    }
  }

  @Test("many threads that begin one journal get one of it, and the others find it locked")
  func beginningTogether() throws {
    let interface = try Ledger.interface()
    for _ in 0..<50 {
      let folder = try Folder()
      let (path, opened) = (folder.journal, LockedValue<[Journal]>([]))
      let errors = LockedValue<[JournalError?]>([])
      onThreads(4) { _ in
        do {
          let journal = try Journal(at: path, interface: interface)
          opened.withLock { $0.append(journal) }
        } catch { errors.withLock { $0.append(error as? JournalError) } }
      }
      #expect(opened.withLock { $0.count } == 1)
      #expect(errors.withLock { $0 } == Array(repeating: .locked(path: path), count: 3))
      #expect(try folder.files == ["a.journal"])
    }
  }

  @Test("a journal in a missing folder names its path, and one with a long name is refused")
  func namesOfFiles() throws {
    let folder = try Folder()
    for (name, code) in [
      ("no/a.journal", ENOENT), (String(repeating: "n", count: 250), ENAMETOOLONG),
    ] {
      let path = "\(folder.path)/\(name)"
      #expect(throws: JournalError.system("opened", path: path, code: code)) {
        try Journal(at: path, interface: Ledger.interface())
      }
    }
  }

  @Test("a journal opened by a relative path keeps its file when the working directory changes")
  func relativePath() async {
    await #expect(processExitsWith: .success) {
      let (folder, other) = try (Folder(), Folder())
      let interface = try Ledger.interface()
      require(chdir(folder.path) == 0)
      let journal = try Journal(at: "a.journal", interface: interface)
      let reader = try JournalReader(at: "a.journal")
      try Ledger.rename("1", on: journal)
      require(chdir(other.path) == 0)
      try journal.rotate()
      try Ledger.rename("2", on: journal)
      try journal.close()
      while try reader.next() != nil {}
      require(reader.nextSequence == 3)
      require(try other.files.isEmpty && folder.files.count == 2)
      _exit(0)
    }
  }

  @Test(
    "readers of records that are larger than their buffer leave no memory behind",
    .countsMemory)
  func largeRecords() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let journal = try folder.open()
      try Ledger.rename(String(repeating: "long ", count: 100_000), on: journal)
      try journal.close()
      func read() throws {
        let reader = try folder.reader()
        while try reader.next() != nil {}
      }
      try read()
      let before = fixture_allocated_bytes()
      for _ in 0..<100 { try read() }
      let left = fixture_allocated_bytes() - before
      require(left < 1 << 20, "\(left) bytes are left of 100 readers")
    }
  }

  @Test("a symbolic link opens the journal that it leads to, through rotations")
  func links() throws {
    let folder = try Folder()
    let files = folder.path + "/files"
    #expect(mkdir(files, 0o700) == 0)
    // A link to a missing file, through another link.
    #expect(symlink("files/real", folder.path + "/link") == 0)
    #expect(symlink(folder.path + "/link", folder.journal) == 0)
    let journal = try folder.open()
    try Ledger.rename("1", on: journal)
    try journal.rotate()
    try Ledger.rename("2", on: journal)
    for path in [folder.journal, files + "/real"] {
      #expect(throws: JournalError.self, "a second writer") {
        try Journal(at: path, interface: Ledger.interface())
      }
      let ledger = Ledger()
      try JournalReader(at: path).replay(Ledger.interface(), into: ledger)
      #expect(ledger.names == ["1", "2"])
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: files).sorted()
        == ["real", "real.000000000001"])
  }
}
