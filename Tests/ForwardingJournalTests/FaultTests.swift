// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Glibc
import Testing

@Suite("Full and failing disks")
struct FaultTests {
  /// Sends the call with a number.
  @Sendable
  static func send(_ number: UInt64, to target: AnyObject) throws {
    if number % 16 == 0 {
      try Ledger.rename("name \(number)", on: target)
    } else {
      try Ledger.add(Int64(number), Double(number) / 7, number % 3 == 0, on: target)
    }
  }

  @Test(
    "a full disk refuses the call that does not fit, and the journal continues once there is space")
  func fullDisk() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let interface = try Ledger.interface()
      let ledger = Ledger()
      let journal = try Journal(at: folder.journal, interface: interface, to: ledger)
      SystemCall.limitFiles(to: 5000)
      var written: UInt64 = 0
      do {
        while true {
          try FaultTests.send(written + 1, to: journal)
          written += 1
        }
      } catch JournalError.system("written", _, EFBIG) {}
      require(written > 50 && journal.size <= 5000 && journal.size > 4900)
      require(journal.nextSequence == written + 1)
      let model = Ledger()
      for number in 1...written { try FaultTests.send(number, to: model) }
      require(ledger == model, "the call that was refused was not made")
      require(try folder.bytes().count == journal.size, "half a record was cut")
      SystemCall.limitFiles(to: nil)
      try FaultTests.send(written + 1, to: journal)
      try journal.close()
      let other = Ledger()
      let made = try JournalReader(at: folder.journal).replay(interface, into: other)
      require(made == Int(written) + 1)
      require(other == ledger)
      _exit(0)
    }
  }

  @Test("without space for a new file, none is begun, and the journal continues in the current one")
  func fullFiles() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let interface = try Ledger.interface()
      func refused(_ room: Int, _ body: () throws -> Void) throws {
        SystemCall.limitFiles(to: room)
        do {
          try body()
          require(false, "there is no room")
        } catch JournalError.system("written", folder.journal, EFBIG) {}
        SystemCall.limitFiles(to: nil)
      }
      for room in [0, 10, 31] {
        try refused(room) { _ = try Journal(at: folder.journal, interface: interface) }
        require(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
      }
      let ledger = Ledger()
      let journal = try Journal(at: folder.journal, interface: interface, to: ledger)
      for number in 1...5 { try FaultTests.send(UInt64(number), to: journal) }
      for room in [0, 31] { try refused(room) { try journal.rotate() } }
      require(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.journal"])
      try FaultTests.send(6, to: journal)
      try journal.rotate()
      try FaultTests.send(7, to: journal)
      try journal.close()
      let other = Ledger()
      try JournalReader(at: folder.journal).replay(interface, into: other)
      require(other == ledger)
      _exit(0)
    }
  }

  @Test("a journal that can neither write nor cut is closed, and the next one cuts", .seccomp)
  func failedCut() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let interface = try Ledger.interface()
      let child = Child {
        let journal = try Journal(at: folder.journal, interface: interface)
        for number in 1...5 { try FaultTests.send(UInt64(number), to: journal) }
        SystemCall.limitFiles(to: journal.size + 20)
        SystemCall.refuse(TestMachine.numberOfCut)
        do {
          try FaultTests.send(6, to: journal)
          require(false, "the call was acknowledged")
        } catch JournalError.system("cut", folder.journal, EIO) {}
        do {
          try FaultTests.send(7, to: journal)
          require(false, "the journal goes on")
        } catch JournalError.closed(folder.journal) {}
      }
      require(child.wait() == 0)
      let size = try folder.bytes().count
      let journal = try Journal(at: folder.journal, interface: interface)
      require(journal.cut == 20 && journal.size == size - 20, "\(journal.cut)")
      require(journal.nextSequence == 6)
      _exit(0)
    }
  }

  @Test("threads that share a failing sync all get an error, and the first close, too", .seccomp)
  func failedGroup() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      var options = JournalOptions()
      options.sync = .group
      let ledger = Ledger()
      let journal = try Journal(
        at: folder.journal, interface: Ledger.interface(), to: ledger, options)
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

  @Test("an error of the size is no end: nothing is cut, and nothing is begun", .seccomp)
  func sizes() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let interface = try Ledger.interface()
      let journal = try Journal(at: folder.journal, interface: interface)
      for number in 1...1000 { try FaultTests.send(UInt64(number), to: journal) }
      try journal.close()
      let bytes = try folder.bytes()
      let reader = try JournalReader(at: folder.journal)
      let child = Child {
        SystemCall.refuse(TestMachine.numberOfFacts)
        do {
          _ = try Journal(at: folder.journal, interface: interface)
          require(false, "it was opened")
        } catch JournalError.system(_, folder.journal, EIO) {}
        do {
          while try reader.next() != nil {}
          require(false, "the end was reported")
        } catch JournalError.system("read", folder.journal, EIO) {}
      }
      require(child.wait() == 0)
      require(try folder.bytes() == bytes)
      _exit(0)
    }
  }
}
