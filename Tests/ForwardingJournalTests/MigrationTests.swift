// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import Foundation
import Testing

@Suite("Calls whose messages have changed")
struct MigrationTests {
  private static let old = try! Message<NoResult, Int32>("pay:")
  private static let new = try! Message<NoResult, Int64>("pay:")

  /// A journal of calls with the old types between unchanged ones.
  private func written(_ folder: Folder) throws -> Interface {
    var before = Interface("ledger")
    try before.allow(Self.old)
    try before.allow(Ledger.rename)
    let journal = try Journal(at: folder.journal, interface: before)
    for number in 1...10 {
      try Ledger.rename("\(number)", on: journal)
      if number > 8 { try Self.old(Int32(number), on: journal) }
    }
    try journal.close()
    try Ledger.prepare()
    try MethodTable.of(Ledger.self).register("pay:", replacing: true) {
      (self: Ledger, amount: Int64) in self.balance += amount
    }
    var now = Interface("ledger")
    try now.allow(Self.new)
    try now.allow(Ledger.rename)
    return now
  }

  @Test("without a migration no call is made, and the error has both types")
  func stopped() throws {
    let folder = try Folder()
    let interface = try written(folder)
    let ledger = Ledger()
    #expect {
      try JournalReader(at: folder.journal).replay(interface, into: ledger)
    } throws: {
      guard case JournalError.schema(_, "pay:", "v@:q", "v@:i") = $0 else { return false }
      return true
    }
    #expect(ledger == Ledger(), "the change is at the end, and nothing was made before")
  }

  @Test("a migration gets the old call, and returns the new one or skips it")
  func migrated() throws {
    let folder = try Folder()
    let interface = try written(folder)
    let ledger = Ledger()
    var options = ReplayOptions()
    options.migrate = { record in
      guard record.selector == "pay:", case .integer(let amount)? = try record.values().first,
        amount > 9
      else { return .skip }
      return .call(try Self.new.invocation(Int64(amount) * 100))
    }
    let summary = try JournalReader(at: folder.journal).replay(interface, into: ledger, options)
    #expect(ledger.balance == 1000 && ledger.names.count == 10)
    #expect(summary.migrated == 2 && summary.made == 11 && summary.skipped == 1)
  }

  @Test("a removed message is reported as unknown to this process")
  func removed() throws {
    let folder = try Folder()
    _ = try written(folder)
    var interface = Interface("ledger")
    try interface.allow(Ledger.rename)
    #expect {
      try JournalReader(at: folder.journal).replay(interface, into: Ledger())
    } throws: {
      guard case JournalError.schema(_, "pay:", nil, "v@:i") = $0 else { return false }
      return true
    }
    var options = ReplayOptions()
    options.last = 8
    #expect(
      try JournalReader(at: folder.journal).replay(interface, into: Ledger(), options).made == 8)
  }

  @Test("a journal of a changed message continues with the new types beside the old ones")
  func goesOn() throws {
    let folder = try Folder()
    let interface = try written(folder)
    let journal = try Journal(at: folder.journal, interface: interface)
    try Self.new(5, on: journal)
    try journal.close()
    let reader = try JournalReader(at: folder.journal)
    var encodings: [String] = []
    while let record = try reader.next() {
      if record.selector == "pay:" { encodings.append(record.encoding) }
    }
    #expect(encodings == ["v@:i", "v@:i", "v@:q"])
  }
}
