// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Glibc
import Testing

/// Processes that are killed during rotations and compactions. `JOURNAL_KILLS` sets how often in
/// the random tests.
@Suite("Processes killed while files change")
struct KillTests {
  /// Sends the call with a number. Every fourth call changes nothing, and a compaction removes it.
  @Sendable
  private static func send(_ number: UInt64, to target: AnyObject) throws {
    if number % 4 == 0 {
      _ = try Ledger.withdraw(0, on: target)
    } else {
      try FaultTests.send(number, to: target)
    }
  }

  /// Writes a journal, and publishes the number of the last acknowledged call.
  @Sendable
  private static func write(
    _ numbers: ClosedRange<UInt64>, to journal: Journal, _ acknowledged: SharedNumbers
  ) throws {
    for number in numbers {
      try send(number, to: journal)
      acknowledged[0] = number
    }
  }

  /// Opens the journal of a killed process, and checks that it has all acknowledged calls and at
  /// most one more. Then continues in it, because the rest of an interrupted rotation or compaction
  /// must not disturb that, and returns the number of its calls.
  @Sendable
  private static func check(
    _ folder: Folder, _ interface: Interface, _ acknowledged: SharedNumbers, _ place: String
  ) throws -> UInt64 {
    let journal = try Journal(at: folder.journal, interface: interface)
    let written = journal.nextSequence - 1
    let told = acknowledged[0]
    require(written == told || written == told + 1, "\(written) of \(told) are there, \(place)")
    try write(written + 1...written + 1, to: journal, acknowledged)
    for doing in doings.reversed() { try doing.body(journal) }
    try write(written + 2...written + 2, to: journal, acknowledged)
    try journal.close()
    let (ledger, model) = (Ledger(), Ledger())
    try JournalReader(at: folder.journal).replay(interface, into: ledger)
    for number in 1...written + 2 { try send(number, to: model) }
    require(ledger == model, "the replay is not the model, \(place)")
    return written + 2
  }

  /// The operations that replace files.
  private static let doings: [(name: String, body: @Sendable (Journal) throws -> Void)] = [
    ("rotate", { try $0.rotate() }),
    ("compact", { try $0.compact { $0.selector != "withdraw:" } }),
  ]

  @Test(
    "a process killed at any system call of a rotation or a compaction loses nothing",
    .notEmulated("no ptrace"))
  func everyCall() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      for (name, body) in KillTests.doings {
        var (kills, status): (Int, Int32) = (0, -SIGKILL)
        while status == -SIGKILL {
          let folder = try Folder()
          let acknowledged = SharedNumbers(count: 1)
          var stops = 0
          status = try SystemCall.trace({
            let journal = try Journal(at: folder.journal, interface: interface)
            try KillTests.write(1...5, to: journal, acknowledged)
            try body(journal)
            try KillTests.write(6...7, to: journal, acknowledged)
          }) { call in
            // A call without effect on files makes no difference to the next process.
            if call.name != "other" { stops += 1 }
            return stops <= kills
          }
          _ = try KillTests.check(folder, interface, acknowledged, "\(name), call \(kills)")
          kills += 1
        }
        require(status == 0 && kills > 30, "\(name): \(status) after \(kills) kills")
      }
      _exit(0)
    }
  }

  @Test(
    "a reader finds a new journal without a file or with its header, at any system call of its beginning",
    .notEmulated("no ptrace"))
  func everyCallOfTheFirst() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      var (kills, status): (Int, Int32) = (0, -SIGKILL)
      while status == -SIGKILL {
        let folder = try Folder()
        let acknowledged = SharedNumbers(count: 1)
        var (stops, found) = (0, 0)
        status = try SystemCall.trace({
          let journal = try Journal(at: folder.journal, interface: interface)
          try KillTests.write(1...2, to: journal, acknowledged)
        }) { call in
          if call.name == "other" { return true }
          do {
            let reader = try JournalReader(at: folder.journal)
            while try reader.next() != nil {}
            found += 1
          } catch JournalError.system(_, _, ENOENT) {
            require(found == 0, "the file is gone at call \(stops)")
          }
          stops += 1
          return stops <= kills
        }
        _ = try KillTests.check(folder, interface, acknowledged, "call \(kills)")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        require(!left.contains("a.journal.creating~"), "\(left) after \(kills) kills")
        kills += 1
      }
      require(status == 0 && kills > 10, "\(status) after \(kills) kills")
      _exit(0)
    }
  }

  @Test("no call is lost when processes are killed during rotations and compactions")
  func filesChange() async {
    await #expect(processExitsWith: .success) {
      var folder = try Folder()
      let interface = try Ledger.interface()
      let acknowledged = SharedNumbers(count: 1)
      var options = JournalOptions()
      options.rotation = 4000
      var calls: UInt64 = 0
      for round in 0..<setting("JOURNAL_KILLS", 30) {
        // Each check reads all records, so the journal must not grow without limit.
        if round % 20 == 19 { (folder, acknowledged[0]) = (try Folder(), 0) }
        let first = acknowledged[0] + 1
        let child = Child {
          let journal = try Journal(at: folder.journal, interface: interface, options)
          for number in first...first + 2000 {
            try KillTests.write(number...number, to: journal, acknowledged)
            if number % 20 == 0 { try KillTests.doings[1].body(journal) }
            if number % 70 == 0 { try KillTests.doings[0].body(journal) }
          }
          sleep(10)
        }
        child.kill(within: 10_000, round: round) { acknowledged[0] >= first }
        acknowledged[0] = try KillTests.check(folder, interface, acknowledged, "round \(round)")
        calls += acknowledged[0] - first
      }
      require(calls > 50, "\(calls)")
      _exit(0)
    }
  }

  @Test("no call is lost when processes are killed whose threads share syncs")
  func groups() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let interface = try Ledger.interface()
      let threads = 4
      let acknowledged = SharedNumbers(count: threads)
      var options = JournalOptions()
      options.sync = .group
      options.rotation = 10_000
      var calls: UInt64 = 0
      for round in 0..<setting("JOURNAL_KILLS", 30) {
        let before = (0..<threads).map { acknowledged[$0] }
        let child = Child {
          let journal = try Journal(at: folder.journal, interface: interface, options)
          for thread in 0..<threads {
            nonisolated(unsafe) let acknowledged = acknowledged
            let first = acknowledged[thread] + 1
            Thread {
              for number in first...first + 5000 {
                try! Ledger.rename("\(thread) \(number)", on: journal)
                acknowledged[thread] = number
              }
            }.start()
          }
          while true {
            try journal.compact { _ in true }
            usleep(1000)
          }
        }
        child.kill(within: 20_000, round: round) {
          (0..<threads).contains { acknowledged[$0] > before[$0] }
        }
        try Journal(at: folder.journal, interface: interface).close()
        let ledger = Ledger()
        try JournalReader(at: folder.journal).replay(interface, into: ledger)
        for thread in 0..<threads {
          let names = ledger.names.filter { $0.hasPrefix("\(thread) ") }
          let (told, there) = (acknowledged[thread], UInt64(names.count))
          require(there == told || there == told + 1, "\(there) of \(told), round \(round)")
          require(names == (0..<names.count).map { "\(thread) \($0 + 1)" }, "\(names)")
          acknowledged[thread] = there
        }
        calls = (0..<threads).reduce(0) { $0 + acknowledged[$1] }
      }
      require(calls > 50, "\(calls)")
      _exit(0)
    }
  }

  // MARK: Two processes open a file

  @Test(
    "opening a file during its rotation opens the file that replaces it, or fails",
    .notEmulated("no ptrace"))
  func openingAside() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      for isKept in [false, true] {
        let folder = try Folder()
        let acknowledged = SharedNumbers(count: 1)
        let first = try Journal(at: folder.journal, interface: interface)
        try KillTests.write(1...1, to: first, acknowledged)
        try first.close()
        var other: Journal?
        let status = try SystemCall.trace({
          do {
            let journal = try Journal(at: folder.journal, interface: interface)
            require(!isKept && journal.nextSequence == 4, "two write one journal")
            try KillTests.write(4...4, to: journal, acknowledged)
          } catch JournalError.locked { require(isKept) }
        }) { call in
          // The process has opened the file, but not locked it yet.
          guard other == nil, call.name == "open", call.result ?? -1 >= 0,
            call.text(1) == folder.journal
          else { return true }
          let journal = try Journal(at: folder.journal, interface: interface)
          try KillTests.write(2...2, to: journal, acknowledged)
          try journal.rotate()
          try KillTests.write(3...3, to: journal, acknowledged)
          if !isKept { try journal.close() }
          other = journal
          return true
        }
        require(status == 0 && other != nil, "\(status)")
        if isKept { try other?.close() }
        _ = try KillTests.check(folder, interface, acknowledged, "\(isKept)")
      }
      _exit(0)
    }
  }
}
