// SPDX-License-Identifier: Apache-2.0
@testable import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Glibc
import Testing
@testable import ForwardingWire

@Suite("Files that lose their names")
struct DisplacedTests {
  private static let losses: [(name: String, lose: @Sendable (Folder) throws -> Void)] = [
    ("removed", { try FileManager.default.removeItem(atPath: $0.journal) }),
    ("truncated", { truncate($0.journal, 40) }),
    (
      "renamed",
      { try FileManager.default.moveItem(atPath: $0.journal, toPath: $0.journal + ".1") }
    ),
    (
      "replaced",
      {
        try $0.write($0.bytes(), "b"); rename($0.path + "/b", $0.journal)
      }
    ),
    ("its folder", { try FileManager.default.moveItem(atPath: $0.path, toPath: $0.path + "x") }),
  ]

  @Test("the next append to a file that lost its name throws, and closes the journal")
  func losing() throws {
    for sync in [JournalOptions.Sync.group, .never] {
      for (name, lose) in Self.losses {
        let folder = try Folder()
        defer { try? FileManager.default.removeItem(atPath: folder.path + "x") }
        var options = JournalOptions()
        options.sync = sync
        let ledger = Ledger()
        let journal = try Journal(
          at: folder.journal, interface: Ledger.interface(), to: ledger, options)
        try FaultTests.send(1, to: journal)
        try lose(folder)
        // At each append, the path is checked at most once in this time.
        if sync == .never || name == "truncated" { usleep(20_000) }
        let displaced = JournalError.displaced(path: folder.journal)
        #expect(throws: displaced, "\(name), \(sync)") { try FaultTests.send(2, to: journal) }
        #expect(throws: JournalError.closed(path: folder.journal)) {
          try FaultTests.send(3, to: journal)
        }
        #expect(ledger.balance == 1, "the call was made")
        #expect(throws: displaced) { try journal.close() }
      }
    }
  }

  @Test("a file that lost its name is not rotated, and nothing at its path is removed")
  func losingWhileFilesChange() throws {
    for doing in [{ try $0.rotate() }, { try $0.removeRotated(before: 9) }]
      as [(Journal) throws -> Void]
    {
      let folder = try Folder()
      let journal = try Journal(at: folder.journal, interface: Ledger.interface())
      for number in 1...5 { try FaultTests.send(UInt64(number), to: journal) }
      let bytes = try folder.bytes()
      try FileManager.default.moveItem(atPath: folder.journal, toPath: folder.path + "/kept")
      try folder.write(Array("somebody's notes".utf8))
      #expect(throws: JournalError.self) { try doing(journal) }
      #expect(try folder.bytes() == Array("somebody's notes".utf8))
      #expect(try folder.bytes("kept") == bytes)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      #expect(names == ["a.journal", "kept"])
    }
  }

  @Test("an unreadable folder is an error", .seccomp)
  func unreadableFolder() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let journal = try Journal(at: folder.journal, interface: Ledger.interface())
      try FaultTests.send(1, to: journal)
      try journal.close()
      let child = Child {
        SystemCall.refuse(TestMachine.numberOfListing)
        do {
          _ = try JournalReader(at: folder.journal)
          require(false, "older files were left out")
        } catch JournalError.system("listed", folder.path, EIO) {}
      }
      require(child.wait() == 0)
      _exit(0)
    }
  }
}
