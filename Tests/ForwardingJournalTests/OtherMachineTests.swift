// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Testing

@Suite("Journals written on another machine")
struct OtherMachineTests {
  private static func written() throws -> [UInt8] {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    for number in 1...40 { try FaultTests.send(UInt64(number), to: journal) }
    try journal.close()
    return try folder.bytes()
  }

  @Test("the journal of every machine replays here, and can be continued")
  func replayed() throws {
    let interface = try Ledger.interface()
    let model = Ledger()
    for number in 1...40 { try FaultTests.send(UInt64(number), to: model) }
    for (machine, bytes) in try MachineFiles.all("journal", own: Self.written()) {
      let (folder, ledger) = (try Folder(), Ledger())
      try folder.write(bytes)
      let reader = try JournalReader(at: folder.journal)
      #expect(try reader.replay(interface, into: ledger) == 40, "\(machine)")
      #expect(ledger == model, "\(machine)")
      let journal = try Journal(at: folder.journal, interface: interface)
      #expect(journal.nextSequence == 41)
      try FaultTests.send(41, to: journal)
      #expect(try reader.replay(interface, into: ledger) == 1)
    }
  }
}
