// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTesting
import Foundation
import Testing

/// Journals in combination with spies.
@Suite("Journals and spies")
struct HistoryTests {
  @Test("a replay into a spy makes the same calls with the same arguments, in order")
  func spy() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let ledger = Ledger()
    let journal = try Journal(at: folder.journal, interface: interface, to: ledger)
    var (names, amounts, flags): ([String], [Int64], [Bool]) = ([], [], [])
    var (factors, withdrawn, order): ([Double], [Int64], [String]) = ([], [], [])
    for number in 1...50 {
      switch number % 3 {
      case 0:
        names.append(String(repeating: "ü\(number)\0", count: number % 7))
        try Ledger.rename(names.last!, on: journal)
        order.append("rename")
      case 1:
        amounts.append(number == 1 ? .min : Int64(number) * 1_000_000_007)
        factors.append(1 / Double(number))
        flags.append(number % 2 == 0)
        try Ledger.add(amounts.last!, factors.last!, flags.last!, on: journal)
        order.append("add")
      default:
        withdrawn.append(-Int64(number))
        _ = try? Ledger.withdraw(withdrawn.last!, on: journal)
        order.append("withdraw")
      }
    }
    try journal.close()

    let spy = SpyProxy()
    spy[Ledger.withdraw].answer(with: 0)
    let summary = try JournalReader(at: folder.journal).replay(interface, into: spy)
    #expect(summary.made == 50 && summary.threw == 0)
    #expect(spy.transcript.map { $0.prefix { $0.isLetter } } == order.map { $0[...] })
    #expect(spy[Ledger.rename].received == names)
    #expect(spy[Ledger.withdraw].received == withdrawn)
    let added = spy[Ledger.add].received
    #expect(added.map(\.0) == amounts && added.map(\.1) == factors && added.map(\.2) == flags)
  }
}
