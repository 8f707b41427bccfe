// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Testing
@testable import ForwardingJournal

@Suite("Syncs")
struct SyncTests {
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
