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
}
