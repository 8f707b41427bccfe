// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTesting
import ForwardingUndo
import Foundation
import Testing

/// Journals in combination with undo steps and spies.
@Suite("Journals of undo steps, and spies")
struct HistoryTests {
  private final class Page {}

  /// A message with all steps of a stack as an argument.
  private static let changed = try! Message<NoResult, [UndoStep]>("steps:")
  private static let setTitle = try! Message<NoResult, String>("setTitle:")

  private func interface(_ limits: WireLimits = WireLimits()) throws -> Interface {
    try MethodTable.of(Page.self).register("setTitle:", replacing: true) { (_: Page, _: String) in }
    var interface = Interface("history", limits: limits)
    try interface.allow(Self.changed)
    return interface
  }

  @Test("a journal stores the steps of an undo stack, and returns them unchanged")
  func steps() throws {
    let folder = try Folder()
    let interface = try interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    let (undo, page) = (UndoStack(), Page())
    defer { withExtendedLifetime(page) {} }
    undo.onDiagnostic = { _ in }
    var kept: [[UndoStep]] = []
    func keep() throws {
      kept.append(undo.steps)
      try Self.changed(undo.steps, on: journal)
    }
    try keep()
    try undo.record(on: page, Self.setTitle, "Grüße\n\"quoted\"")
    undo.name = "Rename"
    try keep()
    _ = try undo.group("Both") {
      try undo.record(on: page, Self.setTitle, String(repeating: "long ", count: 100))
      _ = try undo.group("Inner") { try undo.record(on: page, Self.setTitle, "") }
    }
    try keep()
    try undo.undo()
    try keep()
    try undo.record(on: Page(), Self.setTitle, "of one who died")
    try keep()
    try journal.close()
    #expect(kept.map(\.count) == [0, 1, 2, 1, 2] && kept[4][1].isGone && !kept[2][1].steps.isEmpty)

    let spy = SpyProxy()
    #expect(try JournalReader(at: folder.journal).replay(interface, into: spy).threw == 0)
    #expect(spy[Self.changed].received == kept)
  }

  @Test("groups nested deeper than the limit of a value are refused, and others are recorded")
  func deepGroups() throws {
    let folder = try Folder()
    var limits = WireLimits()
    func nested(_ undo: UndoStack, _ page: Page, _ depth: Int) throws {
      if depth == 0 { return }
      _ = try undo.group("\(depth)") {
        try undo.record(on: page, Self.setTitle, "\(depth)")
        try nested(undo, page, depth - 1)
      }
    }
    for (depth, isKept) in [(6, true), (7, false)] {
      let path = "\(folder.path)/\(depth)"
      let journal = try Journal(at: path, interface: interface(limits))
      let (undo, page) = (UndoStack(), Page())
      defer { withExtendedLifetime(page) {} }
      try nested(undo, page, depth)
      if isKept {
        try Self.changed(undo.steps, on: journal)
      } else {
        #expect {
          try Self.changed(undo.steps, on: journal)
        } throws: {
          guard case JournalError.refused(let error) = $0 else { return false }
          return error.reason == .nestedTooDeeply(limit: 16)
        }
        limits.depth = 32
        let deeper = try Journal(at: path + "-deeper", interface: interface(limits))
        try Self.changed(undo.steps, on: deeper)
      }
    }
  }

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
