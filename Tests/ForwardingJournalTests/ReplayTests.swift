// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingJournal
import Foundation
import Invocations
import Testing
import TypeEncodings

@Suite("Replays")
struct ReplayTests {
  @Test("who is told of each failed call decides whether it ends the replay; else the end tells")
  func failures() throws {
    let (folder, interface) = (try Folder(), try Ledger.interface())
    let ledger = Ledger()
    let journal = try folder.open(to: ledger)
    // Every tenth call withdraws more than the balance.
    for number in 1...50 as ClosedRange<Int64> {
      if number % 10 == 0 {
        #expect(throws: Ledger.Overdrawn.self) { try Ledger.withdraw(.max, on: journal) }
      } else {
        try Ledger.add(number, 1, true, on: journal)
      }
    }
    try journal.close()

    let (untold, reader) = (Ledger(), try folder.reader())
    let error = try #require(throws: ReplayError.self) {
      try reader.replay(interface, into: untold)
    }
    #expect(error.made == 50 && error.failed == 5 && error.ending == nil)
    #expect(error.record.sequence == 10 && error.first is Ledger.Overdrawn)
    #expect(
      "\(error)" == "5 of 50 calls failed, the first was record 10, 'withdraw:': Overdrawn()")
    #expect(untold == ledger && reader.nextSequence == 51, "the others are made")

    let (some, stopped) = (Ledger(), try folder.reader())
    #expect(throws: Ledger.Overdrawn.self) {
      try stopped.replay(interface, into: some) { throw $1 }
    }
    #expect(some.balance == (1...9).reduce(0, +) && stopped.nextSequence == 11)

    let all = Ledger()
    var numbers: [UInt64] = []
    let made = try folder.reader().replay(interface, into: all) { record, error in
      let values = try record.values()
      #expect(error is Ledger.Overdrawn && values == ["\(Int64.max)"])
      numbers.append(record.sequence)
    }
    #expect(made == 50 && all == ledger && numbers == [10, 20, 30, 40, 50])
  }

  @Test("a value that is refused ends a replay before its call, and hides no failure before")
  func refusedValue() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try folder.open()
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
    let (reader, ledger) = (try folder.reader(), Ledger())
    let error = try #require(throws: ReplayError.self) { try reader.replay(small, into: ledger) }
    #expect(error.made == 3 && error.failed == 2)
    #expect(error.record.sequence == 1 && error.first is Ledger.Overdrawn)
    let ending = try #require(error.ending as? JournalError)
    #expect("\(error)".hasSuffix("'withdraw:': Overdrawn(); the replay was ended by: \(ending)"))
    #expect(ledger.names == ["a"] && reader.nextSequence == 4)
    // What goes on counts anew.
    let rest = try #require(throws: ReplayError.self) { try reader.replay(interface, into: ledger) }
    #expect(rest.made == 3 && rest.failed == 1 && rest.ending == nil)
    #expect(ledger.names == ["a", "long", "b"])
    #expect(throws: JournalError.self) {
      try folder.reader().replay(small, into: Ledger()) { _, _ in }
    }
  }

  private final class Other {}

  @Test("calls that the target does not answer have failed, though a proxy would throw nothing")
  func nobody() async throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    try folder.write(1...3)
    let (empty, others, some) = (MulticastProxy(), MulticastProxy(), MulticastProxy())
    others.add(Other(), strongly: true)
    let ledger = Ledger()
    some.add(ledger, strongly: true)
    for target in [Other(), empty, others] as [AnyObject] {
      let error = try #require(throws: ReplayError.self) {
        try folder.reader().replay(interface, into: target)
      }
      #expect(error.made == 0 && error.failed == 3 && error.record.sequence == 1)
      #expect("\(error)".contains("\(type(of: target)) has no method 'rename:'"))
      let told = await Self.error(try folder.reader(), interface, into: target)
      #expect((told as? ReplayError)?.failed == 3)
    }
    #expect(try folder.reader().replay(interface, into: some) == 3)
    #expect(ledger.names == ["1", "2", "3"])
  }

  @Test("a replay of a part stops before the next call, and does not consume it")
  func parts() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    try folder.write(1...20)
    let reader = try folder.reader()
    let ledger = Ledger()
    for (first, last, made) in [(3, 5, 3), (0, 5, 0), (7, 12, 6), (13, .max, 8)]
      as [(UInt64, UInt64, Int)]
    {
      #expect(try reader.replay(interface, into: ledger, from: first, through: last) == made)
      #expect(reader.nextSequence == min(last, 20) + 1)
    }
    #expect(ledger.names == (3...20).filter { $0 != 6 }.map { "\($0)" })
  }

  @Test("a message that this process does not have with these types is found before any call")
  func changed() throws {
    let folder = try Folder()
    let journal = try folder.open()
    try Ledger.add(1, 1, true, on: journal)
    _ = try Ledger.withdraw(1, on: journal)
    var other = Interface("ledger")
    try other.allow(Ledger.add)
    try other.allow(try Message<Int32, Int32>("withdraw:"))
    let ledger = Ledger()
    for (interface, text) in [
      (other, "'withdraw:' has the types i@:i, but q@:q is given"),
      (Interface("other"), "the interface has no message 'ledger/add:times:booked:'"),
      (Interface("ledger"), "the interface has no message 'add:times:booked:'"),
    ] {
      #expect {
        try folder.reader().replay(interface, into: ledger)
      } throws: {
        guard case JournalError.schema = $0 else { return false }
        return "\($0)".hasSuffix("does not fit the interface: \(text)")
      }
    }
    #expect(ledger == Ledger())
  }

  @Test("a replay into the journal of the same file makes the calls that existed before, and ends")
  func intoItself() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try folder.open(to: Ledger())
    for number in 1...3 { try Ledger.rename("\(number)", on: journal) }
    let reader = try folder.reader()
    #expect(try reader.replay(interface, into: journal) == 3)
    #expect(journal.nextSequence == 7)
    #expect(try reader.next()?.sequence == 4, "the rest is to come")
    #expect(try reader.replay(interface, into: Ledger()) == 2)
  }

  /// A value that reads on in its own journal while it is decoded.
  private struct Nosy: Codable, Sendable {
    nonisolated(unsafe) static var reader: JournalReader?
    nonisolated(unsafe) static var errors: [JournalError] = []
    var padding = String(repeating: "x", count: 100_000)

    init() {}
    init(from decoder: any Decoder) throws {
      Self.readOn()
      padding = ""
    }

    static func readOn() {
      for read in [
        { _ = try reader?.next() }, { _ = try reader?.skipDamage() },
        { _ = try reader?.replay(Interface("nosy"), into: Ledger()) },
      ] {
        do { try read() } catch { errors.append(error as! JournalError) }
      }
    }
  }

  /// Retains the calls that it gets, and reads on in the journal.
  private final class Keeper: ForwardingProxy {
    var kept: [Invocation] = []
    let interface: Interface
    init(_ interface: Interface) { self.interface = interface }
    override func methodSignature(for selector: Selector) -> MethodSignature? {
      interface.messages.first { $0.selector == selector }?.signature
    }
    override func responds(to selector: Selector) -> Bool { true }
    override func forward(_ invocation: Invocation) throws {
      kept.append(invocation)
      Nosy.readOn()
    }
  }

  @Test("neither a target, which can retain its calls, nor a value can read on in the journal")
  func keeping() throws {
    let folder = try Folder()
    let look = try Message<NoResult, Nosy, Int64>("look:again:")
    var interface = Interface("nosy")
    try interface.allow(look)
    let journal = try Journal(at: folder.journal, interface: interface)
    for number in 0..<5 as Range<Int64> { try look(Nosy(), number, on: journal) }
    try journal.close()
    Nosy.reader = try folder.reader()
    defer { Nosy.reader = nil }
    let keeper = Keeper(interface)
    #expect(try Nosy.reader?.replay(interface, into: keeper) == 5)
    #expect(try keeper.kept.map { try $0.argument(at: 3, as: Int64.self) } == Array(0..<5))
    #expect(Nosy.errors == Array(repeating: .inUse(path: folder.journal), count: 30))
  }

  @Test("awaited calls are replayed; a cancelled replay stops before the next call")
  func awaiting() async throws {
    let slowly = try AsyncMessage<NoResult, String>("slowly:")
    var interface = Interface("slow")
    try interface.allow(slowly)
    // Each case: the calls, those that are made, and whether one of them has failed.
    for (names, made, hasFailed) in [
      (["a", "a"], ["a", "a"], nil), (["a", "cancel", "c"], ["a", "cancel"], false),
      (["fail", "c"], [], true),
    ] as [([String], [String], Bool?)] {
      let folder = try Folder()
      let journal = try Journal(at: folder.journal, interface: interface)
      for name in names { try await slowly(name, on: journal) }
      let (reader, ledger) = (try folder.reader(), Ledger())
      let error = await Self.error(reader, interface, into: ledger)
      #expect(ledger.names == made)
      guard let hasFailed else {
        #expect(error == nil)
        continue
      }
      let failure = error as? ReplayError
      #expect((failure?.first is Ledger.Overdrawn) == hasFailed)
      #expect((failure?.ending ?? error) is CancellationError)
      #expect(reader.nextSequence == UInt64(names.count))
    }
  }

  /// The error of a replay in a task of its own.
  private static func error(
    _ reader: JournalReader, _ interface: Interface, into target: AnyObject
  ) async -> (any Error)? {
    nonisolated(unsafe) let (reader, target) = (reader, target)
    return await Task {
      do { try await reader.replayAwaiting(interface, into: target) } catch { return error }
      return nil
    }.value
  }
}
