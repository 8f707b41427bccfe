// SPDX-License-Identifier: Apache-2.0
import Forwarding
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

  @Test("calls that fail are counted, and the first one is in the error that the replay throws")
  func failures() throws {
    let folder = try Folder()
    let (interface, ledger) = try written(folder)
    func replay(_ failures: ReplayOptions.Failures) throws -> (
      Ledger, JournalReader, Result<ReplaySummary, any Error>
    ) {
      var options = ReplayOptions()
      options.failures = failures
      let (other, reader) = (Ledger(), try JournalReader(at: folder.journal))
      return (other, reader, Result { try reader.replay(interface, into: other, options) })
    }
    let (all, reader, result) = try replay(.throwAtEnd)
    let error = try #require(throws: ReplayError.self) { try result.get() }
    #expect(error.summary.made == 50 && error.summary.threw == 5 && error.summary.last == 50)
    #expect(
      error.sequence == 10 && error.selector == "withdraw:" && error.first is Ledger.Overdrawn)
    #expect(
      "\(error)"
        == "5 of 50 calls failed, the first was record 10, 'withdraw:': Overdrawn()")
    #expect(all == ledger && reader.nextSequence == 51, "the others are made")

    let (some, stopped, first) = try replay(.throwAtOnce)
    let early = try #require(throws: ReplayError.self) { try first.get() }
    #expect(early.summary.made == 10 && early.summary.threw == 1 && early.sequence == 10)
    #expect(some.balance == (1...9).reduce(0, +) && stopped.nextSequence == 11)

    let (ignored, _, summary) = try replay(.ignore)
    #expect(try summary.get() == error.summary && ignored == ledger)
  }

  @Test("a value that is refused does not hide that a call has failed before")
  func failureBeforeRefusal() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    for name in ["a", "long", "b"] {
      _ = try Ledger.withdraw(5, on: journal)
      try Ledger.rename(name, on: journal)
    }
    try journal.close()
    var limits = WireLimits()
    limits.text = 1
    var small = Interface("ledger", limits: limits)
    try small.allow(Ledger.rename)
    try small.allow(Ledger.withdraw)
    let (reader, ledger) = (try JournalReader(at: folder.journal), Ledger())
    let error = try #require(throws: ReplayError.self) { try reader.replay(small, into: ledger) }
    #expect(error.summary.made == 3 && error.summary.threw == 2 && error.summary.last == 3)
    #expect(error.sequence == 1 && error.first is Ledger.Overdrawn)
    let ending = try #require(error.ending as? JournalError)
    #expect("\(error)".hasSuffix("'withdraw:': Overdrawn(); the replay was ended by: \(ending)"))
    #expect(ledger.names == ["a"] && reader.nextSequence == 4)
    // What goes on counts anew.
    let rest = try #require(throws: ReplayError.self) { try reader.replay(interface, into: ledger) }
    #expect(rest.summary.made == 3 && rest.summary.threw == 1 && rest.ending == nil)
    #expect(ledger.names == ["a", "long", "b"])

    var options = ReplayOptions()
    options.failures = .ignore
    #expect(throws: JournalError.self) {
      try JournalReader(at: folder.journal).replay(small, into: Ledger(), options)
    }
  }

  @Test("calls that no target of a proxy answers have failed, though the proxy throws nothing")
  func nobody() async throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    for number in 1...3 { try Ledger.rename("\(number)", on: journal) }
    let (empty, others, some) = (MulticastProxy(), MulticastProxy(), MulticastProxy())
    others.add(Other(), strongly: true)
    let ledger = Ledger()
    some.add(ledger, strongly: true)
    for target in [empty, others] {
      let error = try #require(throws: ReplayError.self) {
        try JournalReader(at: folder.journal).replay(interface, into: target)
      }
      #expect(error.summary.made == 3 && error.summary.threw == 3 && error.sequence == 1)
      #expect("\(error)".contains("MulticastProxy rename:]: unrecognized"))
      let awaited = try JournalReader(at: folder.journal)
      var told: (any Error)?
      do { try await awaited.replayAwaiting(interface, into: target) } catch { told = error }
      #expect((told as? ReplayError)?.summary.threw == 3)
    }
    #expect(try JournalReader(at: folder.journal).replay(interface, into: some).threw == 0)
    #expect(ledger.names == ["1", "2", "3"])
  }

  private final class Other {}

  @Test("a replay into an object that has none of the methods throws")
  func noMethods() throws {
    let folder = try Folder()
    let (interface, _) = try written(folder)
    let error = try #require(throws: ReplayError.self) {
      try JournalReader(at: folder.journal).replay(interface, into: Other())
    }
    #expect(error.summary.threw == 50 && error.sequence == 1)
    #expect("\(error)".contains("'add:times:booked:': -[Other add:times:booked:]: unrecognized"))
  }

  @Test("a replay can be limited by numbers or by a time")
  func parts() throws {
    let folder = try Folder()
    let (interface, _) = try written(folder)
    let (all, ledger) = (try JournalReader(at: folder.journal), Ledger())
    var times: [Int64] = []
    while let record = try all.next() { times.append(record.time) }
    func made(_ change: (inout ReplayOptions) -> Void, into ledger: Ledger = Ledger()) throws -> Int
    {
      var options = ReplayOptions()
      options.failures = .ignore
      change(&options)
      return try JournalReader(at: folder.journal).replay(interface, into: ledger, options).made
    }
    #expect(try made({ ($0.first, $0.last) = (11, 19) }, into: ledger) == 9)
    #expect(ledger.balance == (11...19).reduce(0, +))
    #expect(try made { $0.until = times[19] } == times.prefix { $0 <= times[19] }.count)
  }

  @Test("a replay of a part stops before the next call, and does not consume it")
  func partAfterPart() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    for number in 1...20 { try Ledger.rename("\(number)", on: journal) }
    let reader = try JournalReader(at: folder.journal)
    let ledger = Ledger()
    var options = ReplayOptions()
    for last in [5, 5, 12, 20] as [UInt64] {
      options.last = last
      try reader.replay(interface, into: ledger, options)
      #expect(reader.nextSequence == last + 1)
    }
    #expect(ledger.names == (1...20).map { "\($0)" })
  }

  @Test("a message that this process does not have with these types is found before any call")
  func changed() throws {
    let folder = try Folder()
    let (interface, _) = try written(folder)
    var other = Interface("ledger")
    try other.allow(Ledger.add)
    try other.allow(try Message<Int32, Int32>("withdraw:"))
    let ledger = Ledger()
    #expect(
      throws: JournalError.schema(
        offset: try offset(of: 10, folder), selector: "withdraw:", expected: "i@:i", given: "q@:q")
    ) { try JournalReader(at: folder.journal).replay(other, into: ledger) }
    #expect(throws: JournalError.self) {
      try JournalReader(at: folder.journal).replay(Interface("other"), into: ledger)
    }
    #expect(ledger == Ledger())
    _ = interface
  }

  private func offset(of sequence: UInt64, _ folder: Folder) throws -> Int {
    let reader = try JournalReader(at: folder.journal)
    while let record = try reader.next() { if record.sequence == sequence { return record.offset } }
    return 0
  }

  @Test(
    "a call above the limit of the interface is refused before any call, unless it is not wanted")
  func limit() throws {
    let folder = try Folder()
    var (large, small) = (WireLimits(), WireLimits())
    (large.message, large.text, small.message) = (4 << 20, 4 << 20, 40)
    let keep = try Message<NoResult, String>("keep:")
    var (writing, reading) = (
      Interface("keeper", limits: large), Interface("keeper", limits: small)
    )
    try writing.allow(keep)
    try reading.allow(keep)
    let journal = try Journal(at: folder.journal, interface: writing)
    for text in ["1", "2", String(repeating: "x", count: 2 << 20), "4"] {
      try keep(text, on: journal)
    }
    try journal.close()
    func replay(_ first: UInt64, _ last: UInt64) throws -> [String] {
      var options = ReplayOptions()
      (options.first, options.last) = (first, last)
      let keeper = SpyProxy()
      try JournalReader(at: folder.journal).replay(reading, into: keeper, options)
      return keeper[keep].received
    }
    #expect(try replay(0, 2) == ["1", "2"] && replay(4, 4) == ["4"])
    for (first, last) in [(0, 3), (3, 3), (1, 9)] as [(UInt64, UInt64)] {
      #expect {
        try replay(first, last)
      } throws: {
        guard case JournalError.malformed(_, let error) = $0 else { return false }
        return error.reason == .limit(40, given: 2 << 20 + 4)
      }
    }
  }

  @Test("a value that is refused ends a replay before its call, which can be made later")
  func refusedValue() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    var small = WireLimits()
    small.text = 1
    var other = Interface("ledger", limits: small)
    try other.allow(Ledger.rename)
    let journal = try Journal(at: folder.journal, interface: interface)
    for name in ["a", "long", "b"] { try Ledger.rename(name, on: journal) }
    try journal.close()
    let (reader, ledger) = (try JournalReader(at: folder.journal), Ledger())
    #expect(throws: JournalError.self) { try reader.replay(other, into: ledger) }
    #expect(ledger.names == ["a"] && reader.nextSequence == 2)
    try reader.replay(interface, into: ledger)
    #expect(ledger.names == ["a", "long", "b"])
  }

  @Test("a replay into the journal of the same file makes the calls that existed before, and ends")
  func intoItself() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface, to: Ledger())
    for number in 1...3 { try Ledger.rename("\(number)", on: journal) }
    let reader = try JournalReader(at: folder.journal)
    #expect(try reader.replay(interface, into: journal).made == 3)
    #expect(journal.nextSequence == 7)
    #expect(try reader.next()?.sequence == 4, "the rest is to come")
    #expect(try reader.replay(interface, into: Ledger()).made == 2)
  }

  /// Retains the calls that it gets, and reads on in the journal.
  private final class Keeper: ForwardingProxy {
    var kept: [Invocation] = []
    var reader: JournalReader?
    var errors: [JournalError] = []
    override func methodSignature(for selector: Selector) -> MethodSignature? {
      try? MethodSignature("v@:qdB")
    }
    override func responds(to selector: Selector) -> Bool { true }
    override func forward(_ invocation: Invocation) throws {
      kept.append(invocation)
      for reading in [{ _ = try self.reader?.next() }, { _ = try self.reader?.skipDamage() }] {
        do { try reading() } catch { errors.append(error as! JournalError) }
      }
    }
  }

  @Test("a target can retain the calls that it gets, and cannot read on in the journal meanwhile")
  func keeping() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    for number in 0..<20 { try Ledger.add(Int64(number), 1, true, on: journal) }
    try journal.close()
    let (keeper, reader) = (Keeper(), try JournalReader(at: folder.journal))
    keeper.reader = reader
    try reader.replay(interface, into: keeper)
    #expect(try keeper.kept.map { try $0.argument(at: 2, as: Int64.self) } == Array(0..<20))
    #expect(keeper.errors == Array(repeating: .inUse(path: folder.journal), count: 40))
  }

  @Test("awaited calls are recorded and replayed; a cancelled replay stops before the next call")
  func awaiting() async throws {
    let folder = try Folder()
    let table = MethodTable.of(Ledger.self)
    try table.register("slowly:", replacing: true) { (self: Ledger, name: String) in
      await Task.yield()
      if name == "cancel" { withUnsafeCurrentTask { $0?.cancel() } }
      self.names.append(name)
    }
    let slowly = try AsyncMessage<NoResult, String>("slowly:")
    var interface = Interface("slow")
    try interface.allow(slowly)
    let ledger = Ledger()
    let journal = try Journal(at: folder.journal, interface: interface, to: ledger)
    for name in ["a", "b"] { try await slowly(name, on: journal) }
    let other = Ledger()
    let summary = try await JournalReader(at: folder.journal)
      .replayAwaiting(interface, into: other)
    #expect(summary.made == 2 && summary.threw == 0 && other.names == ["a", "b"])

    for name in ["cancel", "c"] {
      _ = try await Task { try await slowly(name, on: journal) }.value
    }
    let (reader, third) = (try JournalReader(at: folder.journal), Ledger())
    let error = await Self.replay(reader, interface, into: third, isCancelled: false)
    #expect(error is CancellationError)
    #expect(third.names == ["a", "b", "cancel"] && reader.nextSequence == 4)
    // A call that has failed before is told as well.
    try table.register("slowly:", replacing: true) { (self: Ledger, name: String) in
      await Task.yield()
      withUnsafeCurrentTask { $0?.cancel() }
      throw Ledger.Overdrawn()
    }
    let failing = try JournalReader(at: folder.journal)
    let told = await Self.replay(failing, interface, into: Ledger(), isCancelled: false)
    let failure = try #require(told as? ReplayError)
    #expect(failure.first is Ledger.Overdrawn && failure.ending is CancellationError)
    #expect(failure.summary.threw == 1 && failing.nextSequence == 2)
    // Before anything is read, including the check of the remaining records.
    let unread = try JournalReader(at: folder.journal)
    let first = await Self.replay(unread, Interface("other"), into: Ledger(), isCancelled: true)
    #expect(first is CancellationError && unread.nextSequence == 1)
  }

  /// The error of a replay in a task of its own.
  private static func replay(
    _ reader: JournalReader, _ interface: Interface, into ledger: Ledger, isCancelled: Bool
  ) async -> (any Error)? {
    nonisolated(unsafe) let given = reader
    return await Task {
      if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
      do { try await given.replayAwaiting(interface, into: ledger) } catch { return error }
      return nil
    }.value
  }
}
