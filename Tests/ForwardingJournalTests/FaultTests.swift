// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Glibc
import Testing

/// Faults of processes and disks. `JOURNAL_KILLS` sets how many processes are killed.
@Suite("Killed processes and full disks")
struct FaultTests {
  @Test(
    "no acknowledged call is lost when its process is killed between or during appends")
  func killed() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let interface = try Ledger.interface()
      let acknowledged = SharedNumbers(count: 1)
      let most = UInt64(setting("JOURNAL_APPENDS", 100_000))
      var model = Ledger()
      var inModel: UInt64 = 0
      var tornOnes = 0
      for round in 0..<setting("JOURNAL_KILLS", 30) {
        let child = Child {
          let journal = try Journal(at: folder.journal, interface: interface)
          while acknowledged[0] < most * UInt64(round + 1) {
            let next = journal.nextSequence
            try Self.send(next, to: journal)
            acknowledged[0] = next
          }
          sleep(10)
        }
        // On a busy machine a child may take longer than that to start.
        child.kill(within: 20_000, round: round) { acknowledged[0] >= inModel + 10 }
        let journal = try Journal(at: folder.journal, interface: interface)
        if journal.cut != .whole { tornOnes += 1 }
        let written = journal.nextSequence - 1
        require(written >= acknowledged[0], "\(written) of \(acknowledged[0]) are there")
        require(written <= acknowledged[0] + 1, "\(written) of \(acknowledged[0]) are there")
        acknowledged[0] = written
        try journal.close()
        while inModel < written {
          inModel += 1
          try Self.send(inModel, to: model)
        }
      }
      require(inModel > 100, "\(inModel)")
      let ledger = Ledger()
      let summary = try JournalReader(at: folder.journal).replay(interface, into: ledger)
      require(summary.made == Int(inModel))
      require(ledger == model)
      model = Ledger()
      _exit(0)
    }
  }

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
      // A write that reaches the limit is first partial, and then refused.
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(1), &limit)
      let most = limit.rlim_max
      limit.rlim_cur = 5000
      setrlimit(__rlimit_resource_t(1), &limit)
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
      limit.rlim_cur = most
      setrlimit(__rlimit_resource_t(1), &limit)
      try FaultTests.send(written + 1, to: journal)
      try journal.close()
      let other = Ledger()
      let summary = try JournalReader(at: folder.journal).replay(interface, into: other)
      require(summary.made == Int(written) + 1)
      require(other == ledger)
      _exit(0)
    }
  }

  @Test("a second process is refused with the id of the writing one, until that process ends")
  func twoProcesses() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let interface = try Ledger.interface()
      let isOpen = SharedNumbers(count: 1)
      let child = Child {
        let journal = try Journal(at: folder.journal, interface: interface)
        isOpen[0] = 1
        sleep(120)
        try journal.close()
      }
      while isOpen[0] == 0 { usleep(1000) }
      do {
        _ = try Journal(at: folder.journal, interface: interface)
        require(false, "two journals write one file")
      } catch JournalError.locked(folder.journal, let holder) {
        require(holder == nil || holder == child.pid, "\(holder ?? 0) is not \(child.pid)")
        let list = (try? String(contentsOfFile: "/proc/locks", encoding: .utf8)) ?? ""
        require(holder != nil || !list.contains("FLOCK"))
      }
      child.kill()
      _ = child.wait()
      try Journal(at: folder.journal, interface: interface).close()
      _exit(0)
    }
  }

  @Test("a forked child is refused, and its parent continues")
  func forked() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let interface = try Ledger.interface()
      let journal = try Journal(at: folder.journal, interface: interface)
      try FaultTests.send(1, to: journal)
      let child = Child {
        do {
          try FaultTests.send(2, to: journal)
          require(false, "a child wrote its parent's journal")
        } catch JournalError.forked(folder.journal) {}
        do { try journal.sync() } catch JournalError.forked {}
      }
      require(child.wait() == 0)
      try FaultTests.send(2, to: journal)
      require(journal.nextSequence == 3)
      _exit(0)
    }
  }
}
