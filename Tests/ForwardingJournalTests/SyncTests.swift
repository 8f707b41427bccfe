// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Testing
@testable import ForwardingJournal

@Suite("Syncs")
struct SyncTests {
  @Test("threads that wait for the disk at the same time share a sync")
  func group() throws {
    let folder = try Folder()
    var options = JournalOptions()
    options.sync = .group
    let journal = try Journal(at: folder.journal, interface: Ledger.interface(), options)
    let threads = 8
    let calls = 40
    // Threads in place of a queue, which has only as many as there are processors.
    let done = DispatchSemaphore(value: 0)
    for thread in 0..<threads {
      Thread {
        for call in 0..<calls { _ = try? Ledger.rename("\(thread) \(call)", on: journal) }
        done.signal()
      }.start()
    }
    for _ in 0..<threads { done.wait() }
    #expect(journal.nextSequence == UInt64(threads * calls) + 1)
    let syncs = journal.syncs
    #expect(syncs > 0 && syncs < threads * calls, "\(syncs)")
    #expect(journal.unsynced == 0)
  }

  @Test("all threads that wait during a sync need only one more sync")
  func oneForAll() throws {
    let folder = try Folder()
    var options = JournalOptions()
    options.sync = .group
    let journal = try Journal(at: folder.journal, interface: Ledger.interface(), options)
    // Simulates another thread that waits for the disk.
    journal.state.announce { $0.isSyncing = true }
    let threads = 8
    let done = DispatchSemaphore(value: 0)
    for thread in 0..<threads {
      Thread {
        _ = try? Ledger.rename("\(thread)", on: journal)
        done.signal()
      }.start()
    }
    while journal.nextSequence <= threads { usleep(1000) }
    #expect(journal.syncs == 0 && journal.unsynced == UInt64(threads))
    let isEarly = done.wait(timeout: .now()) == .success
    #expect(!isEarly, "somebody was acknowledged")
    journal.state.announce { $0.isSyncing = false }
    for _ in (isEarly ? 1 : 0)..<threads { done.wait() }
    #expect(journal.syncs == 1 && journal.unsynced == 0)
  }

  @Test("without syncs of its calls, a journal syncs when it is asked to, and for a rotation")
  func others() throws {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    for call in 0..<10 { try Ledger.rename("\(call)", on: journal) }
    #expect(journal.syncs == 0)
    try journal.sync()
    #expect(journal.syncs == 1)
    try Ledger.rename("more", on: journal)
    try journal.rotate()
    #expect(journal.syncs == 2 && journal.unsynced == 0)
  }

  @Test("threads write whole records, each once, during rotations and syncs")
  func threads() throws {
    let folder = try Folder()
    var options = JournalOptions()
    options.sync = .group
    options.rotation = 20_000
    let journal = try Journal(at: folder.journal, interface: Ledger.interface(), options)
    DispatchQueue.concurrentPerform(iterations: 6) { thread in
      for call in 0..<100 {
        if call == 50 { try? journal.rotate() }
        _ = try? Ledger.rename("\(thread) \(call)", on: journal)
      }
    }
    try journal.close()
    let ledger = Ledger()
    let summary = try JournalReader(at: folder.journal).replay(Ledger.interface(), into: ledger)
    #expect(summary.made == 600)
    #expect(Set(ledger.names).count == 600)
    for thread in 0..<6 {
      let own = ledger.names.filter { $0.hasPrefix("\(thread) ") }
      #expect(own == (0..<100).map { "\(thread) \($0)" }, "each thread's own calls are in order")
    }
  }

  @Test("a closed journal refuses calls")
  func closed() throws {
    let folder = try Folder()
    let ledger = Ledger()
    let journal = try Journal(at: folder.journal, interface: Ledger.interface(), to: ledger)
    try Ledger.rename("1", on: journal)
    try journal.close()
    try journal.close()
    #expect(throws: JournalError.closed(path: folder.journal)) {
      try Ledger.rename("2", on: journal)
    }
    #expect(throws: JournalError.self) { try journal.rotate() }
    #expect(ledger.names == ["1"])
  }

  @Test("a successful sync counts for nothing once the journal has lost its file")
  func lostMeanwhile() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    try Ledger.rename("1", on: journal)
    try journal.sync()
    try Ledger.rename("2", on: journal)
    let (file, end) = journal.state.withLock { state in
      // Another thread got an error that this one did not get.
      defer { state.end(after: .system("synchronized", path: folder.journal, code: 5)) }
      return (state.file, state.next)
    }
    let old = try #require(file)
    // Records that were synced before are on the disk.
    try journal.finish(old, upTo: end - 1, nil)
    #expect(throws: JournalError.closed(path: folder.journal)) {
      try journal.finish(old, upTo: end, nil)
    }
    #expect(journal.unsynced == 1)
  }
}
