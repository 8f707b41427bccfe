// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Glibc
import Invocations
import Testing
@testable import ForwardingJournal

/// An object whose calls are awaited.
private final class Diary: Sendable {
  let log = LockedValue<[String]>([])
  var names: [String] { log.withLock { $0 } }

  static let note = try! AsyncMessage<NoResult, String>("note:")
  static let jot = try! Message<NoResult, String>("jot:")

  static func interface() throws -> Interface {
    try MethodTable.of(Diary.self).register("note:", replacing: true) {
      (diary: Diary, name: String) in
      await Task.yield()
      diary.log.withLock { $0.append(name) }
    }
    var interface = Interface("diary")
    try interface.allow(note)
    try interface.allow(jot)
    return interface
  }
}

/// A journal of a diary, in a process of its own.
private struct Desk {
  let folder: Folder
  let diary = Diary()
  let journal: Journal

  init(_ sync: JournalOptions.Sync = .group, rotation: Int? = nil) throws {
    folder = try Folder()
    var options = JournalOptions()
    (options.sync, options.rotation) = (sync, rotation)
    journal = try Journal(at: folder.journal, interface: Diary.interface(), to: diary, options)
  }

  /// Sends a call in each of `count` tasks, and returns when all of them wait for another thread's
  /// sync. Each task returns the error of its call, if any.
  func send(_ count: Int) async throws -> [Task<JournalError?, Never>] {
    let (journal, before) = (journal, journal.nextSequence)
    // Simulates a thread that waits for a slow disk.
    journal.announce { $0.isSyncing = true }
    let tasks = (0..<count).map { number in
      Task { () -> JournalError? in
        do { try await Diary.note("\(number)", on: journal) } catch {
          return error as? JournalError
        }
        return nil
      }
    }
    try await until { journal.nextSequence == UInt64(count) + before }
    return tasks
  }
}

/// Waits for a condition that other tasks meet, without blocking a thread.
private func until(_ isSo: () -> Bool) async throws {
  while !isSo() { try await Task.sleep(for: .milliseconds(1)) }
}

/// Runs `body`, and ends the process if it hangs: with a blocked pool, no task could report that.
private func watched(_ body: () async throws -> Void) async throws {
  beginThread(after: 300) { require(false, "the pool stands still") }
  try await body()
  _exit(0)
}

/// Tests of suspended tasks. Each runs in a process of its own, with a thread pool that no other
/// test uses.
@Suite("Tasks that wait for the disk")
struct AwaitingTests {
  @Test("64 tasks in a pool of a few threads wait, and their calls are in order in all files")
  func groups() async {
    await #expect(processExitsWith: .success) {
      try await watched {
        let desk = try Desk(rotation: 10_000)
        let journal = desk.journal
        try await withThrowingTaskGroup(of: Void.self) { group in
          for task in 0..<64 {
            group.addTask {
              for call in 0..<20 { try await Diary.note("\(task) \(call)", on: journal) }
            }
          }
          try await group.waitForAll()
        }
        let records = 64 * 20
        require(journal.nextSequence == UInt64(records) + 1 && journal.unsynced == 0)
        try journal.close()
        require(try desk.folder.files.count > 2)
        let other = Diary()
        let made = try await desk.folder.reader().replayAwaiting(Diary.interface(), into: other)
        require(made == records, "\(made)")
        for names in [desk.diary.names, other.names] {
          for task in 0..<64 {
            let own = names.filter { $0.hasPrefix("\(task) ") }
            require(own == (0..<20).map { "\(task) \($0)" }, "\(own)")
          }
        }
      }
    }
  }

  @Test(
    "tasks wait for a slow disk without blocking a thread, also when they are cancelled or a child is forked"
  )
  func suspended() async {
    await #expect(processExitsWith: .success) {
      try await watched {
        let desk = try Desk()
        let (folder, journal, count) = (desk.folder, desk.journal, 5000)
        let tasks = try await desk.send(count)
        require(desk.diary.names == [])
        for task in tasks.prefix(count / 2) { task.cancel() }
        let size = try folder.bytes().count
        let child = Child {
          for refused in [
            { try journal.sync() }, { try journal.close() }, { try Diary.jot("1", on: journal) },
          ] as [() throws -> Void] {
            do {
              try refused()
              require(false, "a child uses its parent's journal")
            } catch JournalError.locked(folder.journal) {}
          }
        }
        require(child.wait() == 0)
        require(try folder.bytes().count == size && desk.diary.names == [])
        journal.announce { $0.isSyncing = false }
        for task in tasks { require(await task.value == nil) }
        require(journal.unsynced == 0 && desk.diary.names.count == count)
        require(journal.syncs == 1, "\(journal.syncs) waits")
      }
    }
  }

  @Test(
    "waiting tasks and threads, and the first close, get the error of a failing disk, and no call is made"
  )
  func failing() async {
    await #expect(processExitsWith: .success) {
      try await watched {
        let desk = try Desk()
        let (folder, journal) = (desk.folder, desk.journal)
        let tasks = try await desk.send(16)
        let errors = LockedValue<[JournalError?]>([])
        for _ in 0..<4 {
          beginThread {
            do { try Diary.jot("", on: journal) } catch {
              errors.withLock { $0.append(error as? JournalError) }
            }
          }
        }
        try await until { journal.nextSequence == 21 }
        let failure = JournalError.system("synchronized", path: folder.journal, code: EIO)
        let sync = try journal.state.withLock { try $0.beginSync() }
        journal.announce { $0.end(sync, .failure(failure)) }
        for task in tasks { require(await task.value == failure) }
        try await until { errors.withLock { $0 } == Array(repeating: failure, count: 4) }
        require(desk.diary.names == [])
        do {
          try await Diary.note("more", on: journal)
          require(false, "the journal goes on")
        } catch JournalError.closed(folder.journal) {}
        do {
          try journal.close()
          require(false, "who closes it was not told")
        } catch { require(error as? JournalError == failure) }
        try journal.close()
      }
    }
  }

  @Test("closing a journal acknowledges the waiting tasks; all later calls get `closed`")
  func closing() async {
    await #expect(processExitsWith: .success) {
      try await watched {
        for sync in [JournalOptions.Sync.group, .never] {
          var (written, acknowledged) = (0, 0)
          for round in 0..<10 {
            let desk = try Desk(sync)
            let (folder, journal) = (desk.folder, desk.journal)
            let ends = (0..<16).map { task in
              Task { () -> (any Error)? in
                do {
                  while true { try await Diary.note("\(task)", on: journal) }
                } catch { return error }
              }
            }
            try await until { desk.diary.names.count > round }
            try journal.close()
            for end in ends {
              let error = await end.value as? JournalError
              require(error == .closed(path: folder.journal), "\(error as Any)")
            }
            acknowledged += desk.diary.names.count
            written += try Reading(folder.reader()).numbers.count
          }
          require(written == acknowledged && written > 10, "\(acknowledged) of \(written), \(sync)")
        }
      }
    }
  }
}

extension Journal {
  /// The number of syncs, and the number of records that may not be on the disk.
  var syncs: Int { state.withLock { $0.syncs } }
  var unsynced: UInt64 { state.withLock { $0.next - $0.synced } }
}
