// SPDX-License-Identifier: Apache-2.0
@testable import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Glibc
import Testing

@Suite("Concurrent operations")
struct MeanwhileTests {
  @Test("every call in the file was acknowledged, even if the journal is closed at the same time")
  func closing() throws {
    var (written, acknowledged) = (0, 0)
    for _ in 0..<25 {
      let folder = try Folder()
      var options = JournalOptions()
      options.sync = .group
      let journal = try Journal(at: folder.journal, interface: Ledger.interface(), options)
      nonisolated(unsafe) let counts = SharedNumbers(count: 4)
      let done = DispatchSemaphore(value: 0)
      for thread in 0..<4 {
        Thread {
          while (try? Ledger.rename("\(thread)", on: journal)) != nil { counts[thread] += 1 }
          done.signal()
        }.start()
      }
      // On a busy machine the threads may take a while to start.
      while (0..<4).allSatisfy({ counts[$0] < 2 }) { usleep(1000) }
      usleep(5000)
      try journal.close()
      for _ in 0..<4 { done.wait() }
      acknowledged += (0..<4).reduce(0) { $0 + Int(counts[$1]) }
      let reader = try JournalReader(at: folder.journal)
      while try reader.next() != nil { written += 1 }
    }
    #expect(written == acknowledged && written > 25)
  }

  @Test("a file of another journal is not overwritten, and neither is the target of a link")
  func othersFiles() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    try Ledger.rename("1", on: journal)
    let doings: [(String, () throws -> Void)] = [
      (folder.journal, { try journal.rotate() }),
      (folder.path + "/new", { _ = try Journal(at: folder.path + "/new", interface: interface) }),
    ]
    for (name, body) in doings {
      // A file in use.
      let path = name + ".new~"
      let used = try JournalFile(path, for: .creating)
      try used.lock()
      #expect {
        try body()
      } throws: { error in
        if case JournalError.locked(_, getpid()) = error { true } else { false }
      }
      #expect(try used.isAt(path))
      used.unlock()
      try FileManager.default.removeItem(atPath: path)
      // Another name of a journal.
      let other = try Journal(at: folder.path + "/other", interface: interface)
      try Ledger.rename("1", on: other)
      try other.close()
      try FileManager.default.linkItem(atPath: other.path, toPath: path)
      try body()
      #expect(try JournalReader(at: other.path).next()?.sequence == 1)
      #expect(!FileManager.default.fileExists(atPath: path))
      try FileManager.default.removeItem(atPath: other.path)
      #expect(throws: JournalError.unfinishedName(path: path)) {
        try Journal(at: path, interface: interface)
      }
    }
  }

  @Test("the target of a link at the name of an unfinished file is not overwritten")
  func linkAtTheName() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    try Ledger.rename("1", on: journal)
    try folder.write([1, 2, 3], "precious")
    #expect(symlink(folder.path + "/precious", folder.journal + ".new~") == 0)
    #expect(throws: JournalError.self) { try journal.rotate() }
    #expect(try folder.bytes("precious") == [1, 2, 3])
    try Ledger.rename("2", on: journal)
    #expect(journal.nextSequence == 3)
  }

  @Test("a new journal is its owner's alone, whatever an interrupted process has left at its name")
  func leftFile() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    try folder.write(Array(repeating: 7, count: 100), "a.journal.new~")
    #expect(chmod(folder.journal + ".new~", 0o666) == 0)
    let journal = try Journal(at: folder.journal, interface: interface)
    try Ledger.rename("1", on: journal)
    #expect(try JournalReader(at: folder.journal).next()?.sequence == 1)
    var status = stat()
    #expect(stat(folder.journal, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.journal"])
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
              path, _)
            { return nil }
          }
        }
        return try await group.reduce(into: [Journal]()) { if let one = $1 { $0.append(one) } }
      }
      #expect(opened.count == 1)
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
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
    func open(_ count: Int) throws -> Journal {
      try Journal(
        at: folder.path + "/" + String(repeating: "n", count: count), interface: interface)
    }
    for count in [235, 250, 255, 1000] {
      #expect {
        try open(count)
      } throws: {
        if case JournalError.system("opened", _, ENAMETOOLONG) = $0 { true } else { false }
      }
    }
    let longest = try open(234)
    try Ledger.rename("1", on: longest)
    try longest.rotate()
  }

  @Test("a closed journal is unlocked, even if a child has its descriptor")
  func childWithDescriptor() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let interface = try Ledger.interface()
      var journal: Journal? = try Journal(at: folder.journal, interface: interface)
      try Ledger.rename("1", on: journal!)
      let child = Child { sleep(20) }
      try journal!.close()
      let again = try Journal(at: folder.journal, interface: interface)
      require(again.nextSequence == 2)
      journal = nil
      child.kill()
      _ = child.wait()
      _exit(0)
    }
  }

  @Test("a failed rotation is reported, and retried later but not at each call")
  func budget() async {
    await #expect(processExitsWith: .success) {
      nonisolated(unsafe) let told = SharedNumbers(count: 1)
      ForwardingEvent.destination = .handler { _ in told[0] += 1 }
      let folder = try Folder()
      var options = JournalOptions()
      options.rotation = 200
      let journal = try Journal(at: folder.journal, interface: Ledger.interface(), options)
      require(mkdir(folder.journal + ".new~", 0o700) == 0)
      for number in 0..<1000 { try Ledger.rename("\(number)", on: journal) }
      require(told[0] > 1 && told[0] < 20, "\(told[0]) times")
      let before = journal.size
      require(rmdir(folder.journal + ".new~") == 0)
      for number in 0..<200 { try Ledger.rename("\(number)", on: journal) }
      require(journal.size < before)
      var count = 0
      let reader = try JournalReader(at: folder.journal)
      while try reader.next() != nil { count += 1 }
      require(count == 1200)
      _exit(0)
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
      require(try FileManager.default.contentsOfDirectory(atPath: other.path).isEmpty)
      require(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
      _exit(0)
    }
  }
}
