// SPDX-License-Identifier: Apache-2.0
import Foundation
import Invocations
import Testing
import ForwardingJournal

@Suite("Recording")
struct JournalTests {
  @Test("a message that the interface does not allow is neither recorded nor made")
  func refused() throws {
    let folder = try Folder()
    let ledger = Ledger()
    let journal = try folder.open(to: ledger)
    let before = journal.size
    #expect(throws: InvocationError.self) { try Message<NoResult>("close")(on: journal) }
    #expect(throws: InvocationError.self) {
      try Message<NoResult, Int32>("rename:")(5, on: journal)
    }
    #expect(journal.size == before && journal.nextSequence == 1)
    #expect(ledger == Ledger())
  }

  @Test("a call for a released target is not recorded")
  func goneTarget() throws {
    let folder = try Folder()
    var ledger: Ledger? = Ledger()
    let journal = try folder.open(to: ledger, strongly: false)
    try Ledger.rename("1", on: journal)
    ledger = nil
    #expect(throws: ForwardingError.self) { try Ledger.rename("2", on: journal) }
    #expect(journal.nextSequence == 2)
  }

  /// A value that reads on in its own journal while it is decoded.
  private struct Nosy: Codable, Sendable {
    nonisolated(unsafe) static var reader: JournalReader?
    nonisolated(unsafe) static var error: JournalError?
    var size = 100_000
    var padding = String(repeating: "x", count: 100_000)

    init() {}
    init(from decoder: any Decoder) throws {
      do throws(JournalError) { _ = try Self.reader?.next() } catch { Self.error = error }
      padding = ""
    }
  }

  @Test("a value that asks its own reader for the next record while it is decoded is refused")
  func nosyValue() throws {
    let folder = try Folder()
    let look = try Message<NoResult, Nosy, String>("look:again:")
    var interface = Interface("nosy")
    try interface.allow(look)
    let journal = try Journal(at: folder.journal, interface: interface)
    for _ in 0..<5 { try look(Nosy(), "text", on: journal) }
    try journal.close()
    let reader = try folder.reader()
    Nosy.reader = reader
    defer { Nosy.reader = nil }
    let copy = try Journal(at: folder.path + "/copy", interface: interface)
    #expect(try reader.replay(interface, into: copy) == 5)
    #expect(Nosy.error == .inUse(path: folder.journal))
  }
}
