// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Glibc
import Invocations
import Testing
@testable import ForwardingJournal

/// Tests of suspended tasks. Each runs in a process of its own, with a thread pool that no other
/// test uses.
@Suite("Tasks that wait for the disk")
struct AwaitingTests {
  /// An object whose calls are awaited.
  private final class Diary: Sendable {
    let names = LockedValue<[String]>([])
  }

  private static let note = try! AsyncMessage<NoResult, String>("note:")
  private static let jot = try! Message<NoResult, String>("jot:")

  private static func interface() throws -> Interface {
    try MethodTable.of(Diary.self).register("note:", replacing: true) {
      (diary: Diary, name: String) in
      await Task.yield()
      diary.names.withLock { $0.append(name) }
    }
    var interface = Interface("diary")
    try interface.allow(note)
    try interface.allow(jot)
    return interface
  }

  private static func journal(
    _ folder: Folder, _ sync: JournalOptions.Sync, to target: Diary, rotation: Int? = nil
  ) throws -> Journal {
    var options = JournalOptions()
    (options.sync, options.rotation) = (sync, rotation)
    return try Journal(at: folder.journal, interface: interface(), to: target, options)
  }

  /// Ends the process if it hangs: with a blocked pool, no task could report that.
  private static func watch() {
    Thread {
      sleep(300)
      require(false, "the pool stands still")
    }.start()
  }

  /// Waits for a condition that other tasks meet, without blocking a thread.
  private static func until(_ isSo: () -> Bool) async throws {
    while !isSo() { try await Task.sleep(for: .milliseconds(1)) }
  }

  /// Sends a call in each of `count` tasks, and returns when all of them wait for another thread's
  /// sync. Each task returns the error of its call, if any.
  private static func send(
    _ count: Int, on journal: Journal
  ) async throws -> [Task<JournalError?, Never>] {
    // Simulates a thread that waits for a slow disk.
    journal.announce { $0.isSyncing = true }
    let tasks = (0..<count).map { number in
      Task { () -> JournalError? in
        do { try await note("\(number)", on: journal) } catch { return error as? JournalError }
        return nil
      }
    }
    try await until { journal.nextSequence == UInt64(count) + 1 }
    return tasks
  }

  @Test("64 tasks in a pool of a few threads wait, and their calls are in order in all files")
  func groups() async {
    await #expect(processExitsWith: .success) {
      AwaitingTests.watch()
      let folder = try Folder()
      let diary = Diary()
      let journal = try AwaitingTests.journal(folder, .group, to: diary, rotation: 10_000)
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<64 {
          group.addTask {
            for call in 0..<20 {
              do { try await AwaitingTests.note("\(task) \(call)", on: journal) } catch {
                require(false, "\(error)")
              }
            }
          }
        }
      }
      let records = 64 * 20
      require(journal.nextSequence == UInt64(records) + 1 && journal.unsynced == 0)
      try journal.close()
      require(try folder.files.count > 2)
      let other = Diary()
      let made = try await JournalReader(at: folder.journal)
        .replayAwaiting(AwaitingTests.interface(), into: other)
      require(made == records, "\(made)")
      for names in [diary, other].map({ $0.names.withLock { $0 } }) {
        for task in 0..<64 {
          let own = names.filter { $0.hasPrefix("\(task) ") }
          require(own == (0..<20).map { "\(task) \($0)" }, "\(own)")
        }
      }
      _exit(0)
    }
  }

  @Test(
    "tasks wait for a slow disk without blocking a thread, also when they are cancelled or a child is forked"
  )
  func suspended() async {
    await #expect(processExitsWith: .success) {
      AwaitingTests.watch()
      let folder = try Folder()
      let diary = Diary()
      let journal = try AwaitingTests.journal(folder, .group, to: diary)
      let count = 5000
      let tasks = try await AwaitingTests.send(count, on: journal)
      require(diary.names.withLock { $0 } == [])
      for task in tasks.prefix(count / 2) { task.cancel() }
      let size = try folder.bytes().count
      let child = Child {
        for refused in [
          { try journal.sync() }, { try journal.close() },
          { try AwaitingTests.jot("1", on: journal) },
        ] as [() throws -> Void] {
          do {
            try refused()
            require(false, "a child uses its parent's journal")
          } catch JournalError.locked(folder.journal) {}
        }
      }
      require(child.wait() == 0)
      require(try folder.bytes().count == size && diary.names.withLock { $0 } == [])
      journal.announce { $0.isSyncing = false }
      for task in tasks { require(await task.value == nil) }
      require(journal.unsynced == 0 && diary.names.withLock { $0.count } == count)
      require(journal.syncs == 1, "\(journal.syncs) waits")
      _exit(0)
    }
  }

  @Test("all waiting tasks get the error of a failing disk, and none of their calls is made")
  func failing() async {
    await #expect(processExitsWith: .success) {
      AwaitingTests.watch()
      let folder = try Folder()
      let diary = Diary()
      let journal = try AwaitingTests.journal(folder, .group, to: diary)
      let tasks = try await AwaitingTests.send(16, on: journal)
      let failure = JournalError.system("synchronized", path: folder.journal, code: EIO)
      let sync = try journal.state.withLock { try $0.beginSync() }
      journal.announce { $0.end(sync, .failure(failure)) }
      for task in tasks {
        let error = await task.value
        require(error == failure, "\(error as Any)")
      }
      require(diary.names.withLock { $0 } == [])
      do {
        try await AwaitingTests.note("more", on: journal)
        require(false, "the journal goes on")
      } catch JournalError.closed(folder.journal) {}
      do {
        try journal.close()
        require(false, "who closes it was not told")
      } catch { require(error as? JournalError == failure) }
      try journal.close()
      _exit(0)
    }
  }

  @Test("closing a journal acknowledges the waiting tasks; all later calls get `closed`")
  func closing() async {
    await #expect(processExitsWith: .success) {
      AwaitingTests.watch()
      for sync in [JournalOptions.Sync.group, .never] {
        var (written, acknowledged) = (0, 0)
        for round in 0..<10 {
          let folder = try Folder()
          let diary = Diary()
          let journal = try AwaitingTests.journal(folder, sync, to: diary)
          let ends = (0..<16).map { task in
            Task { () -> (any Error)? in
              do {
                while true { try await AwaitingTests.note("\(task)", on: journal) }
              } catch { return error }
            }
          }
          try await AwaitingTests.until { diary.names.withLock { $0.count } > round }
          try journal.close()
          for end in ends {
            let error = await end.value as? JournalError
            require(error == .closed(path: folder.journal), "\(error as Any)")
          }
          acknowledged += diary.names.withLock { $0.count }
          let reader = try folder.reader()
          while try reader.next() != nil { written += 1 }
        }
        require(written == acknowledged && written > 10, "\(acknowledged) of \(written), \(sync)")
      }
      _exit(0)
    }
  }
}

extension Journal {
  /// The number of syncs, and the number of records that may not be on the disk.
  var syncs: Int { state.withLock { $0.syncs } }
  var unsynced: UInt64 { state.withLock { $0.next - $0.synced } }
}
