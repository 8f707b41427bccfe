// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Glibc
import Testing

@Suite("Concurrent operations")
struct MeanwhileTests {
  @Test("each file of a journal is its owner's alone")
  func permissions() throws {
    let folder = try Folder()
    let journal = try folder.open()
    for _ in 1...2 {
      var status = stat()
      #expect(stat(folder.journal, &status) == 0 && status.st_mode & 0o777 == 0o600)
      try Ledger.rename("1", on: journal)
      try journal.rotate()
    }
    #expect(try folder.files.count == 3)
  }

  @Test("many threads that begin one journal get one of it, and the others find it locked")
  func beginningTogether() async throws {
    let interface = try Ledger.interface()
    for _ in 0..<50 {
      let folder = try Folder()
      let path = folder.journal
      let opened = try await withThrowingTaskGroup(of: Journal?.self) { group in
        for _ in 0..<4 {
          group.addTask {
            do { return try Journal(at: path, interface: interface) } catch JournalError.locked(
              path)
            {
              return nil
            }
          }
        }
        return try await group.reduce(into: [Journal]()) { if let one = $1 { $0.append(one) } }
      }
      #expect(opened.count == 1)
      let left = try folder.files
      #expect(left == ["a.journal"])
    }
  }

  @Test("a journal in a missing folder names its path, and one with a long name is refused")
  func namesOfFiles() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let missing = folder.path + "/no/a.journal"
    #expect(throws: JournalError.system("opened", path: missing, code: ENOENT)) {
      try Journal(at: missing, interface: interface)
    }
    let long = folder.path + "/" + String(repeating: "n", count: 250)
    #expect(throws: JournalError.system("opened", path: long, code: ENAMETOOLONG)) {
      try Journal(at: long, interface: interface)
    }
  }

  @Test("a closed journal is unlocked, even if a child has its descriptor")
  func childWithDescriptor() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      var journal: Journal? = try folder.open()
      try Ledger.rename("1", on: journal!)
      let child = Child { sleep(20) }
      try journal!.close()
      let again = try folder.open()
      require(again.nextSequence == 2)
      journal = nil
      child.kill()
      _ = child.wait()
      _exit(0)
    }
  }

  @Test("a call is refused while its file cannot be rotated, and recorded once it can")
  func failedRotation() throws {
    let folder = try Folder()
    let ledger = Ledger()
    let journal = try folder.open(to: ledger, rotation: 200)
    #expect(mkdir(folder.journal + ".000000000001", 0o700) == 0)
    var made = 0
    while (try? Ledger.rename("\(made + 1)", on: journal)) != nil { made += 1 }
    #expect {
      try Ledger.rename("refused", on: journal)
    } throws: {
      if case JournalError.system("linked", _, EEXIST) = $0 { true } else { false }
    }
    #expect(made > 1 && journal.nextSequence == UInt64(made) + 1 && ledger.names.count == made)
    #expect(rmdir(folder.journal + ".000000000001") == 0)
    for number in 1...10 { try Ledger.rename("\(made + number)", on: journal) }
    #expect(try folder.replayed() == ledger)
    #expect(ledger.names == (1...made + 10).map { "\($0)" })
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
      require(try FileManager.default.contentsOfDirectory(atPath: other.path).isEmpty)
      require(try folder.files.count == 2)
      _exit(0)
    }
  }
}
