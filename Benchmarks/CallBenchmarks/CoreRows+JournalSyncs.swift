// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingJournal

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif
import Dispatch

// Calls that wait for the disk, with several at a time, in comparison with hand-written writes of
// as many bytes; and reading records.
extension CoreRows {
  /// The number of calls of one of these rows, for each task.
  static let syncedCalls = 16

  static func journalSyncs() throws -> [Benchmark] {
    let message = try Message<NoResult, Int, Double, Bool>("book:at:final:")
    let interface = try journalInterface(message)
    let call = try message.invocation(1, 0.5, true)
    let each = try journal(interface, to: nil, .each)
    let group = try journal(interface, to: nil, .group)
    let zeros = [UInt8](repeating: 0, count: 1 << 18)
    let bytes = [UInt8](repeating: 7, count: 49)
    let file = try plainFile()
    _ = unsafe pwrite(file, zeros, zeros.count, 0)
    fdatasync(file)
    let bare = "journal/sync/bare-16"
    return [
      Benchmark(bare) { count in
        for index in 0..<count * syncedCalls {
          _ = unsafe pwrite(file, bytes, bytes.count, off_t(index * 49 % (1 << 17)))
          fdatasync(file)
        }
      },
      Benchmark("journal/sync/each-16", over: bare) { count in
        for _ in 0..<count * syncedCalls { try each.record(call) }
      },
    ]
      + [1, 16, 64].map { tasks in
        Benchmark(
          "journal/group/tasks-\(tasks)", over: tasks == 1 ? bare : "journal/group/tasks-1"
        ) { count in
          for _ in 0..<count { try append(syncedCalls, in: tasks, to: group, message) }
        }
      } + [try reading(interface, message)]
  }

  /// Appends `calls` calls in each of `tasks` tasks.
  private static func append(
    _ calls: Int, in tasks: Int, to journal: Journal,
    _ message: Message<NoResult, Int, Double, Bool>
  ) throws {
    let done = DispatchSemaphore(value: 0)
    let before = journal.nextSequence
    for _ in 0..<tasks {
      Task {
        defer { done.signal() }
        let call = try message.invocation(1, 0.5, true)
        for _ in 0..<calls { try await journal.recordAwaiting(call) }
      }
    }
    for _ in 0..<tasks { done.wait() }
    precondition(journal.nextSequence == before + UInt64(calls * tasks), "a journal lost calls")
  }

  /// Reads a record, from a journal in memory.
  private static func reading(
    _ interface: Interface, _ message: Message<NoResult, Int, Double, Bool>
  ) throws -> Benchmark {
    let written = try records(interface, message)
    var reader = try JournalReader(written)
    return Benchmark("journal/read/next", over: "closure/call/stored") { count in
      var left = count
      while left > 0 {
        guard let record = try reader.next() else {
          reader = try JournalReader(written)
          continue
        }
        precondition(record.arguments.count == 17)
        left -= 1
      }
    }
  }
}
