// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Glibc
import Testing

/// Processes that are killed at random moments. `JOURNAL_KILLS` sets how often.
@Suite("Processes killed while files change")
struct KillTests {
  @Test(
    "no acknowledged call is lost when the process of its thread is killed",
    arguments: [false, true])
  func threads(isGroup: Bool) async {
    await #expect(processExitsWith: .success) { [isGroup] in
      var folder = try Folder()
      let threads = 4
      let acknowledged = SharedNumbers(count: threads)
      var calls: UInt64 = 0
      for round in 0..<setting("JOURNAL_KILLS", 10) {
        // Each round reads all calls of those before it.
        if round % 5 == 4 {
          folder = try Folder()
          for thread in 0..<threads { acknowledged[thread] = 0 }
        }
        let before = (0..<threads).map { acknowledged[$0] }
        let child = Child {
          let journal = try folder.open(
            sync: isGroup ? .group : .never, rotation: isGroup ? 10_000 : 1_000_000)
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
          sleep(120)
        }
        child.kill(within: 20_000, round: round) {
          (0..<threads).contains { acknowledged[$0] > before[$0] }
        }
        try folder.open().close()
        let ledger = try folder.replayed()
        for thread in 0..<threads {
          let names = ledger.names.filter { $0.hasPrefix("\(thread) ") }
          let (told, there) = (acknowledged[thread], UInt64(names.count))
          require(there == told || there == told + 1, "\(there) of \(told), round \(round)")
          require(names == (0..<names.count).map { "\(thread) \($0 + 1)" }, "\(names)")
          acknowledged[thread] = there
        }
        calls = max(calls, (0..<threads).reduce(0) { $0 + acknowledged[$1] })
      }
      require(calls > 50, "\(calls)")
      _exit(0)
    }
  }

  @Test(
    "opening a file during its rotation opens the file that replaces it, or fails",
    .notEmulated("no ptrace"))
  func openingAside() async {
    await #expect(processExitsWith: .success) {
      for isKept in [false, true] {
        let folder = try Folder()
        try folder.write(1...1)
        var other: Journal?
        let status = try SystemCall.trace({
          do {
            let journal = try folder.open()
            require(!isKept && journal.nextSequence == 4, "two write one journal")
            try Ledger.rename("4", on: journal)
          } catch JournalError.locked { require(isKept) }
        }) { call in
          // The process has opened the file, but not locked it yet.
          guard other == nil, call.name == "open", call.result ?? -1 >= 0,
            call.text(1) == folder.journal
          else { return .go }
          let journal = try folder.open()
          try Ledger.rename("2", on: journal)
          try journal.rotate()
          try Ledger.rename("3", on: journal)
          if !isKept { try journal.close() }
          other = journal
          return .go
        }
        require(status == 0 && other != nil, "\(status)")
        if isKept { try other?.close() }
        require(try folder.replayed().names == ["1", "2", "3"] + (isKept ? [] : ["4"]))
      }
      _exit(0)
    }
  }
}
