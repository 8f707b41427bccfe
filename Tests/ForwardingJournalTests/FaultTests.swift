// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Glibc
import Testing

@Suite("Full and failing disks")
struct FaultTests {
  @Test(
    "a full disk refuses the call that does not fit, and the journal continues once there is space")
  func fullDisk() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let ledger = Ledger()
      let journal = try folder.open(to: ledger)
      SystemCall.limitFiles(to: 5000)
      var written: UInt64 = 0
      do {
        while true {
          try Ledger.send(written + 1, to: journal)
          written += 1
        }
      } catch JournalError.system("written", _, EFBIG) {}
      require(written > 50 && journal.size <= 5000 && journal.size > 4900)
      require(journal.nextSequence == written + 1)
      let model = Ledger()
      for number in 1...written { try Ledger.send(number, to: model) }
      require(ledger == model, "the call that was refused was not made")
      require(try folder.bytes().count == journal.size, "half a record was cut")
      SystemCall.limitFiles(to: nil)
      try Ledger.send(written + 1, to: journal)
      try journal.close()
      require(try folder.replayed() == ledger && folder.open().nextSequence == written + 2)
      _exit(0)
    }
  }

  @Test("without space for a new file, none is begun, and the journal continues in the current one")
  func fullFiles() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      func refused(_ room: Int, _ body: () throws -> Void) throws {
        SystemCall.limitFiles(to: room)
        do {
          try body()
          require(false, "there is no room")
        } catch JournalError.system("written", folder.journal, EFBIG) {}
        SystemCall.limitFiles(to: nil)
      }
      for room in [0, 10, 31] {
        try refused(room) { _ = try folder.open() }
        require(try folder.files.isEmpty)
      }
      let ledger = Ledger()
      let journal = try folder.open(to: ledger)
      for number in 1...5 { try Ledger.send(UInt64(number), to: journal) }
      for room in [0, 31] { try refused(room) { try journal.rotate() } }
      require(try folder.files == ["a.journal"])
      try Ledger.send(6, to: journal)
      try journal.rotate()
      try Ledger.send(7, to: journal)
      try journal.close()
      require(try folder.replayed() == ledger)
      _exit(0)
    }
  }

  @Test("a journal that can neither write nor cut is closed, and the next one cuts", .seccomp)
  func failedCut() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let child = Child {
        let journal = try folder.open()
        for number in 1...5 { try Ledger.send(UInt64(number), to: journal) }
        SystemCall.limitFiles(to: journal.size + 20)
        SystemCall.refuse(TestMachine.numberOfCut)
        do {
          try Ledger.send(6, to: journal)
          require(false, "the call was acknowledged")
        } catch JournalError.system("cut", folder.journal, EIO) {}
        do {
          try Ledger.send(7, to: journal)
          require(false, "the journal goes on")
        } catch JournalError.closed(folder.journal) {}
      }
      require(child.wait() == 0)
      let size = try folder.bytes().count
      let journal = try folder.open()
      require(journal.cut == 20 && journal.size == size - 20, "\(journal.cut)")
      require(journal.nextSequence == 6)
      _exit(0)
    }
  }

  @Test("threads that share a failing sync all get an error, and the first close, too", .seccomp)
  func failedGroup() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let ledger = Ledger()
      let journal = try folder.open(to: ledger, sync: .group)
      let done = DispatchSemaphore(value: 0)
      for thread in 0..<4 {
        Thread {
          SystemCall.refuse(TestMachine.numberOfDataSync)
          while (try? Ledger.rename("\(thread)", on: journal)) != nil {}
          done.signal()
        }.start()
      }
      for _ in 0..<4 { done.wait() }
      require(ledger.names == [], "\(ledger.names)")
      do { try Ledger.rename("more", on: journal) } catch JournalError.closed(folder.journal) {}
      for isFirst in [true, false] {
        do {
          try journal.close()
          require(!isFirst, "nobody was told")
        } catch JournalError.system("synchronized", folder.journal, EIO) { require(isFirst) }
      }
      _exit(0)
    }
  }

  @Test(
    "an error of the size or of the folder is no end: nothing is cut, begun or left out", .seccomp)
  func facts() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      try folder.write(1...1000)
      let bytes = try folder.bytes()
      let reader = try folder.reader()
      let child = Child {
        SystemCall.refuse(TestMachine.numberOfFacts)
        do {
          _ = try folder.open()
          require(false, "it was opened")
        } catch JournalError.system(_, folder.journal, EIO) {}
        do {
          while try reader.next() != nil {}
          require(false, "the end was reported")
        } catch JournalError.system("read", folder.journal, EIO) {}
      }
      require(child.wait() == 0)
      let other = Child {
        SystemCall.refuse(TestMachine.numberOfListing)
        do {
          _ = try folder.reader()
          require(false, "older files were left out")
        } catch JournalError.system("listed", folder.path, EIO) {}
      }
      require(other.wait() == 0)
      require(try folder.bytes() == bytes)
      _exit(0)
    }
  }
}
