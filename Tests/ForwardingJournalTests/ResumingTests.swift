// SPDX-License-Identifier: Apache-2.0
import ForwardingTesting
import Foundation
import Testing
@testable import ForwardingJournal

@Suite("Interrupted replays")
struct ResumingTests {
  /// A journal that renames to "1", "2" and so on.
  private func written(_ folder: Folder, _ count: Int) throws -> Interface {
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    for number in 1...count { try Ledger.rename("\(number)", on: journal) }
    try journal.close()
    return interface
  }

  private struct Stop: Error {}

  /// Continues an interrupted replay, and checks that it makes the remaining calls.
  private func expectRest(
    _ reader: JournalReader, _ interface: Interface, from first: Int, to last: Int
  ) throws {
    #expect(reader.nextSequence == UInt64(first))
    let ledger = Ledger()
    #expect(try reader.replay(interface, into: ledger).made == last - first + 1)
    #expect(ledger.names == (first...last).map { "\($0)" })
  }

  @Test("a replay whose task is cancelled stops before the call that was not made")
  func cancelled() async throws {
    let folder = try Folder()
    let interface = try written(folder, 5)
    let reader = try JournalReader(at: folder.journal)
    let ledger = Ledger()
    var options = ReplayOptions()
    options.filter = { record in
      // While the third call is being prepared.
      if record.sequence == 3 { withUnsafeCurrentTask { $0?.cancel() } }
      return true
    }
    nonisolated(unsafe) let given = (reader, options)
    await #expect(throws: CancellationError.self) {
      try await Task {
        _ = try await given.0.replayAwaiting(interface, into: ledger, given.1)
      }.value
    }
    #expect(ledger.names == ["1", "2"])
    try expectRest(reader, interface, from: 3, to: 5)
  }

  @Test("a replay cancelled while it waits for the time of a call continues with that call")
  func cancelledWaiting() async throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    try Ledger.rename("1", on: journal)
    usleep(20_000)
    try Ledger.rename("2", on: journal)
    try journal.close()
    let reader = try JournalReader(at: folder.journal)
    let ledger = Ledger()
    var options = ReplayOptions()
    // Hours between the two calls.
    options.speed = 1e-6
    nonisolated(unsafe) let given = (reader, options)
    let task = Task {
      _ = try await given.0.replayAwaiting(interface, into: ledger, given.1)
    }
    while ledger.names.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try expectRest(reader, interface, from: 2, to: 2)
  }

  @Test(
    "a replay that makes no calls also ends immediately when its task is cancelled",
    arguments: [true, false])
  func cancelledUnmade(isDry: Bool) async throws {
    let folder = try Folder()
    let interface = try written(folder, 5)
    let reader = try JournalReader(at: folder.journal)
    var options = ReplayOptions()
    options.isDry = isDry
    options.filter = { record in
      if record.sequence == 3 { withUnsafeCurrentTask { $0?.cancel() } }
      return isDry
    }
    nonisolated(unsafe) let given = (reader, options)
    await #expect(throws: CancellationError.self) {
      try await Task {
        _ = try await given.0.replayAwaiting(interface, into: Ledger(), given.1)
      }.value
    }
    #expect(reader.nextSequence == (isDry ? 3 : 4))
    // Before anything is read, including the check of the remaining records.
    nonisolated(unsafe) let damaged = try JournalReader(at: folder.journal)
    await #expect(throws: CancellationError.self) {
      try await Task {
        withUnsafeCurrentTask { $0?.cancel() }
        _ = try await damaged.replayAwaiting(Interface("other"), into: Ledger())
      }.value
    }
    #expect(damaged.nextSequence == 1)
  }

  @Test("a replay that ends by an error of a filter, a migration or a value does not skip the call")
  func thrown() throws {
    let folder = try Folder()
    let interface = try written(folder, 5)
    var options = ReplayOptions()
    options.filter = { if $0.sequence == 3 { throw Stop() } else { true } }
    var reader = try JournalReader(at: folder.journal)
    #expect(throws: Stop.self) { try reader.replay(interface, into: Ledger(), options) }
    try expectRest(reader, interface, from: 3, to: 5)

    options = ReplayOptions()
    options.migrate = { if $0.sequence == 3 { throw Stop() } else { .skip } }
    reader = try JournalReader(at: folder.journal)
    #expect(throws: Stop.self) { try reader.replay(Interface("other"), into: Ledger(), options) }
    try expectRest(reader, interface, from: 3, to: 5)

    var small = WireLimits()
    small.text = 1
    var other = Interface("ledger", limits: small)
    try other.allow(Ledger.rename)
    let path = folder.path + "/b.journal"
    let journal = try Journal(at: path, interface: interface)
    for name in ["a", "long", "b"] { try Ledger.rename(name, on: journal) }
    try journal.close()
    reader = try JournalReader(at: path)
    let ledger = Ledger()
    #expect(throws: JournalError.self) { try reader.replay(other, into: ledger) }
    #expect(ledger.names == ["a"] && reader.nextSequence == 2)
    try reader.replay(interface, into: ledger)
    #expect(ledger.names == ["a", "long", "b"])
  }
}
