// SPDX-License-Identifier: Apache-2.0
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
    PowerCutTests.together(8, on: journal) {
      #expect(journal.syncs == 0 && journal.unsynced == 8)
    }
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

  @Test("a sync covers the records that were written before it")
  func writtenMeanwhile() throws {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    try Ledger.rename("1", on: journal)
    let sync = try journal.state.withLock { try $0.beginSync() }
    try Ledger.rename("2", on: journal)
    journal.announce { $0.end(sync, .success(())) }
    #expect(journal.unsynced == 1)
  }

  @Test("a full file is not rotated while a thread waits for it")
  func fullMeanwhile() throws {
    let folder = try Folder()
    var options = JournalOptions()
    options.rotation = 1
    let journal = try Journal(at: folder.journal, interface: Ledger.interface(), options)
    try Ledger.rename("1", on: journal)
    let sync = try journal.state.withLock { try $0.beginSync() }
    let done = DispatchSemaphore(value: 0)
    Thread {
      _ = try? Ledger.rename("2", on: journal)
      done.signal()
    }.start()
    // A thread that did not wait would have rotated the file by then.
    usleep(50_000)
    #expect(journal.nextSequence == 2)
    try sync.file.sync(holding: sync.size)
    journal.announce { $0.end(sync, .success(())) }
    done.wait()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
  }
}
