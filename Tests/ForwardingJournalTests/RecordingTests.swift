// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Invocations
import Testing

@Suite("Recording")
struct RecordingTests {
  @Test("a message that the interface does not allow is neither recorded nor made")
  func refused() throws {
    let (folder, ledger) = (try Folder(), Ledger())
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

  private struct Tree: Codable, Sendable {
    var kids: [Tree] = []
  }

  @Test("with any limit, however large or small, calls are recorded or refused")
  func extremes() throws {
    let keep = try Message<NoResult, String>("keep:")
    let grow = try Message<NoResult, Tree>("grow:")
    for value in [.max, .max - 1, .max / 4, 0, -1, .min] {
      for limit in [\WireLimits.message, \.text, \.depth] {
        let folder = try Folder()
        var limits = WireLimits()
        limits[keyPath: limit] = value
        var interface = Interface("keeper", limits: limits)
        try? interface.allow(keep)
        try? interface.allow(grow)
        let journal = try Journal(at: folder.journal, interface: interface)
        _ = try? keep("tea", on: journal)
        _ = try? grow(Tree(kids: [Tree()]), on: journal)
        let written = value > 0 ? 2 : limit == \.depth ? 1 : 0
        #expect(journal.nextSequence == UInt64(written) + 1)
        try journal.close()
        let target = try Journal(at: folder.path + "/nowhere", interface: interface)
        #expect(try folder.reader().replay(interface, into: target) == written)
      }
    }
  }

  @Test(
    "the longest record fits a file with and without its definition, and one more byte does not")
  func longest() throws {
    let folder = try Folder()
    let keep = try Message<NoResult, [UInt8]>("keep:")
    var limits = WireLimits()
    (limits.message, limits.text) = (.max, .max)
    var interface = Interface("keeper", limits: limits)
    try interface.allow(keep)
    let journal = try Journal(at: folder.journal, interface: interface)
    let most = 16 << 20 - 36 - 6 - 3 * 65535 - 4
    for _ in 1...2 { try keep([UInt8](repeating: 1, count: most), on: journal) }
    #expect {
      try keep([UInt8](repeating: 1, count: most + 1), on: journal)
    } throws: {
      if case JournalError.refused = $0 { true } else { false }
    }
    let reader = try folder.reader()
    for _ in 1...2 { #expect(try reader.next()?.arguments.count == most + 4) }
    #expect(try reader.next() == nil && reader.torn == 0)
  }
}
