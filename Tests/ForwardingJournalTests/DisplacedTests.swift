// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Glibc
import Testing

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
        let ledger = Ledger()
        let journal = try folder.open(to: ledger, sync: sync)
        try Ledger.send(1, to: journal)
        try lose(folder)
        // At each append, the path is checked at most once in this time.
        if sync == .never || name == "truncated" { usleep(20_000) }
        let displaced = JournalError.displaced(path: folder.journal)
        #expect(throws: displaced, "\(name), \(sync)") { try Ledger.send(2, to: journal) }
        #expect(throws: JournalError.closed(path: folder.journal)) {
          try Ledger.send(3, to: journal)
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
      let journal = try folder.open()
      for number in 1...5 { try Ledger.send(UInt64(number), to: journal) }
      let bytes = try folder.bytes()
      try FileManager.default.moveItem(atPath: folder.journal, toPath: folder.path + "/kept")
      try folder.write(Array("somebody's notes".utf8))
      #expect(throws: JournalError.self) { try doing(journal) }
      #expect(try folder.bytes() == Array("somebody's notes".utf8))
      #expect(try folder.bytes("kept") == bytes)
      let names = try folder.files
      #expect(names == ["a.journal", "kept"])
    }
  }
}
