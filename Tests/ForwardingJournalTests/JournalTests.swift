import ForwardingJournal
import Foundation
import Testing

@Suite("A journal of calls")
struct JournalTests {
  @Test("what passed is in the file, and makes another object the same")
  func replay() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let ledger = Ledger()
    let journal = try Journal(at: folder.journal, interface: interface, to: ledger)
    for index in 0..<100 {
      try Ledger.add(Int64(index), Double(index) / 3, index % 2 == 0, on: journal)
      if index % 10 == 0 { try Ledger.rename("grüße \(index)", on: journal) }
    }
    #expect(journal.nextSequence == 111)
    try journal.close()
    let other = Ledger()
    #expect(try JournalReader(at: folder.journal).replay(interface, into: other).made == 110)
    #expect(other == ledger)
    #expect(ledger.names.count == 10)
  }

  @Test("a journal that is opened again goes on where it stopped")
  func reopening() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    for index in 0..<5 {
      let journal = try Journal(at: folder.journal, interface: interface)
      #expect(journal.nextSequence == UInt64(index + 1))
      #expect(journal.cut == .whole)
      try Ledger.rename("\(index)", on: journal)
      try journal.close()
    }
    let ledger = Ledger()
    try JournalReader(at: folder.journal).replay(interface, into: ledger)
    #expect(ledger.names == ["0", "1", "2", "3", "4"])
  }

  @Test("what the interface does not allow is neither written nor made")
  func refused() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let ledger = Ledger()
    let journal = try Journal(at: folder.journal, interface: interface, to: ledger)
    let before = journal.size
    #expect(throws: InvocationError.self) { try Message<NoResult>("close")(on: journal) }
    #expect(throws: InvocationError.self) {
      try Message<NoResult, Int32>("rename:")(5, on: journal)
    }
    #expect(journal.size == before && journal.nextSequence == 1)
    #expect(ledger == Ledger())
  }

  @Test("two journals cannot write one file, and the second names who does")
  func twoWriters() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let first = try Journal(at: folder.journal, interface: interface)
    #expect {
      try Journal(at: folder.journal, interface: interface)
    } throws: { error in
      guard case JournalError.locked(folder.journal, let holder) = error else { return false }
      return holder == nil || holder == getpid()
    }
    try first.close()
    #expect(throws: Never.self) { try Journal(at: folder.journal, interface: interface) }
  }
}
