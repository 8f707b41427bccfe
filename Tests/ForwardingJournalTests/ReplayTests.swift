// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import ForwardingTesting
import Foundation
import Testing
@testable import ForwardingJournal

@Suite("Replays")
struct ReplayTests {
  /// A journal of calls named by their numbers. Every tenth withdraws more than the balance.
  private func written(_ folder: Folder, _ count: Int64 = 50) throws -> (Interface, Ledger) {
    let interface = try Ledger.interface()
    let ledger = Ledger()
    let journal = try Journal(at: folder.journal, interface: interface, to: ledger)
    for number in 1...count {
      if number % 10 == 0 {
        #expect(throws: Ledger.Overdrawn.self) { try Ledger.withdraw(.max, on: journal) }
      } else {
        try Ledger.add(number, 1, true, on: journal)
      }
    }
    try journal.close()
    return (interface, ledger)
  }

  @Test("a call that threw when it was recorded throws again, and the others are made")
  func throwing() throws {
    let folder = try Folder()
    let (interface, ledger) = try written(folder)
    let other = Ledger()
    let summary = try JournalReader(at: folder.journal).replay(interface, into: other)
    #expect(other == ledger)
    #expect(summary.made == 50 && summary.threw == 5 && summary.last == 50)
    #expect(summary.firstError == "Overdrawn()")
    var options = ReplayOptions()
    options.stopsAtErrors = true
    let reader = try JournalReader(at: folder.journal)
    #expect(throws: Ledger.Overdrawn.self) {
      try reader.replay(interface, into: Ledger(), options)
    }
    #expect(reader.nextSequence == 11, "where it stopped is known")
  }

  @Test("a replay can be limited by numbers, by a time, by a filter, or to no calls")
  func parts() throws {
    let folder = try Folder()
    let (interface, _) = try written(folder)
    var options = ReplayOptions()
    (options.first, options.last) = (11, 19)
    let ledger = Ledger()
    var summary = try JournalReader(at: folder.journal).replay(interface, into: ledger, options)
    #expect(summary.made == 9 && ledger.balance == (11...19).reduce(0, +))

    options = ReplayOptions()
    var times: [Int64] = []
    let reader = try JournalReader(at: folder.journal)
    while let record = try reader.next() { times.append(record.time) }
    options.until = times[19]
    summary = try JournalReader(at: folder.journal).replay(interface, into: Ledger(), options)
    #expect(summary.made == times.prefix { $0 <= times[19] }.count)

    options = ReplayOptions()
    options.filter = { $0.selector == "withdraw:" }
    summary = try JournalReader(at: folder.journal).replay(interface, into: Ledger(), options)
    #expect(summary.made == 5 && summary.skipped == 45)

    options.isDry = true
    let dry = Ledger()
    #expect(try JournalReader(at: folder.journal).replay(interface, into: dry, options).made == 5)
    #expect(dry == Ledger())
  }

  @Test("a record above the limit of the interface is refused before its contents are read")
  func limit() throws {
    let folder = try Folder()
    var large = WireLimits()
    (large.message, large.text) = (4 << 20, 4 << 20)
    var small = WireLimits()
    small.message = 40
    let keep = try Message<NoResult, String>("keep:")
    // The definition is not a message, and may be longer.
    let name = "keeper of what is written, " + String(repeating: "and of more, ", count: 10)
    var (writing, reading) = (Interface(name, limits: large), Interface(name, limits: small))
    for (isInLater, moment) in [(true, JournalOptions.Moment.before), (false, .afterwards)] {
      var options = JournalOptions()
      options.moment = moment
      try writing.allow(keep)
      try reading.allow(keep)
      let path = "\(folder.path)/\(isInLater)"
      let journal = try Journal(at: path, interface: writing, options)
      try keep("as long as it may be", on: journal)
      if isInLater { try journal.rotate() }
      try keep("as long as it may be", on: journal)
      let offset = journal.size
      try keep(String(repeating: "x", count: 2 << 20), on: journal)
      try journal.close()
      let given = moment == .before ? 2 << 20 + 4 : 2 << 20 + 9
      // The contents are not looked at, not even their checksum.
      let file = try #require(FileHandle(forUpdatingAtPath: path))
      try file.seek(toOffset: UInt64(offset + 1000))
      file.write(Data("y".utf8))
      for isFirst in [true, false] {
        let reader = try JournalReader(at: path)
        if !isFirst { #expect(try reader.next()?.sequence == 1) }
        let keeper = SpyProxy()
        #expect {
          try reader.replay(reading, into: keeper)
        } throws: {
          guard case JournalError.malformed(offset, let error) = $0 else { return false }
          return error.reason == .limit(40, given: given) && error.offset == 4
        }
        #expect(keeper.transcript == [])
        #expect(reader.scanner.window.capacity == 1 << 18, "no memory was taken for it")
      }
    }
  }

  @Test("a replay with a speed keeps the intervals of the calls")
  func speed() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    for _ in 0..<3 {
      try Ledger.add(1, 1, true, on: journal)
      usleep(40_000)
    }
    try journal.close()
    var options = ReplayOptions()
    func time(at speed: Double) throws -> Double {
      options.speed = speed
      let start = Date()
      try JournalReader(at: folder.journal).replay(interface, into: Ledger(), options)
      return Date().timeIntervalSince(start)
    }
    #expect(try time(at: 1) >= 0.08)
    // If each call still waited as long as it was recorded, none of many attempts would be faster.
    #expect(try (0..<100).contains { _ in try time(at: 1000) < 0.07 })
  }

  @Test("a replay into a journal records the same calls")
  func recorder() throws {
    let folder = try Folder()
    let (interface, _) = try written(folder)
    let copy = try Journal(at: folder.path + "/copy", interface: interface)
    try JournalReader(at: folder.journal).replay(interface, into: copy)
    try copy.close()
    let (one, other) = try (
      JournalReader(at: folder.journal), JournalReader(at: folder.path + "/copy")
    )
    while let record = try one.next() {
      let twin = try #require(try other.next())
      #expect(record.arguments == twin.arguments && record.selector == twin.selector)
      #expect(record.sequence == twin.sequence && record.encoding == twin.encoding)
    }
    #expect(try other.next() == nil)
  }

  /// Retains the calls that it gets.
  private final class Keeper: ForwardingProxy {
    var kept: [Invocation] = []
    override func methodSignature(for selector: Selector) -> MethodSignature? {
      try? MethodSignature("v@:qdB")
    }
    override func forward(_ invocation: Invocation) throws { kept.append(invocation) }
  }

  @Test("a target can retain the calls that it gets")
  func keeping() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    for number in 0..<20 { try Ledger.add(Int64(number), 1, true, on: journal) }
    try journal.close()
    let keeper = Keeper()
    try JournalReader(at: folder.journal).replay(interface, into: keeper)
    #expect(try keeper.kept.map { try $0.argument(at: 2, as: Int64.self) } == Array(0..<20))
  }

  @Test("with moment afterwards, the records have results and errors")
  func outcomes() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    var options = JournalOptions()
    options.moment = .afterwards
    let ledger = Ledger()
    let journal = try Journal(at: folder.journal, interface: interface, to: ledger, options)
    try Ledger.add(100, 1, true, on: journal)
    #expect(try Ledger.withdraw(30, on: journal) == 70)
    #expect(throws: Ledger.Overdrawn.self) { try Ledger.withdraw(500, on: journal) }
    try journal.close()
    let reader = try JournalReader(at: folder.journal)
    #expect(try reader.next()?.outcome == .returned([]))
    let second = try #require(try reader.next())
    guard case .returned(let bytes) = second.outcome else { throw Ledger.Overdrawn() }
    #expect(try WireTypes(second.encoding).result(bytes) == .integer(70))
    #expect(try reader.next()?.outcome == .threw("Overdrawn()"))
    let other = Ledger()
    try JournalReader(at: folder.journal).replay(interface, into: other)
    #expect(other == ledger)
  }

  @Test("a filter that reads on in its own journal is refused, and the replay can be repeated")
  func readingFilter() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let (ledger, other) = (Ledger(), Ledger())
    let journal = try Journal(at: folder.journal, interface: interface, to: ledger)
    try Ledger.add(1, 1, true, on: journal)
    try Ledger.rename("b", on: journal)
    try journal.rotate()
    try Ledger.add(3, 1, true, on: journal)
    try journal.close()
    let reader = try JournalReader(at: folder.journal)
    var options = ReplayOptions()
    options.filter = { record in
      if record.sequence == 2 { _ = try reader.next() }
      return true
    }
    let inUse = JournalError.inUse(path: folder.journal)
    #expect(throws: inUse) { try reader.replay(interface, into: other, options) }
    options.filter = { _ in
      try reader.replay(interface, into: Ledger())
      return true
    }
    #expect(throws: inUse) { try reader.replay(interface, into: other, options) }
    #expect(try reader.replay(interface, into: other).made == 2)
    #expect(other == ledger)
  }

  @Test("awaited calls are recorded and replayed")
  func awaiting() async throws {
    let folder = try Folder()
    let table = MethodTable.of(Ledger.self)
    try table.register("slowly:", replacing: true) { (self: Ledger, name: String) in
      await Task.yield()
      self.names.append(name)
    }
    let slowly = try AsyncMessage<NoResult, String>("slowly:")
    var interface = Interface("slow")
    try interface.allow(slowly)
    let ledger = Ledger()
    let journal = try Journal(at: folder.journal, interface: interface, to: ledger)
    for name in ["a", "b"] { try await slowly(name, on: journal) }
    try journal.close()
    let other = Ledger()
    let summary = try await JournalReader(at: folder.journal)
      .replayAwaiting(interface, into: other)
    #expect(summary.made == 2 && summary.threw == 0)
    #expect(other.names == ["a", "b"] && ledger.names == other.names)
  }
}
