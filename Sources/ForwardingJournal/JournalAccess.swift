// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

/// The state of a journal behind its lock, and the tasks that wait for the disk.
///
/// Threads wait at the condition of the lock. Tasks are suspended in a list; the thread of the
/// journal waits for the disk and resumes them. Swift's pool has few threads, and all of them could
/// block otherwise. For the same reason the lock is held only for moments: while files are
/// replaced, a flag in the state says so.
final class JournalAccess: Sendable {
  private let lock: BlockingMutex<JournalState>
  /// The thread that waits for the disk in place of tasks.
  private let queue = DispatchQueue(label: "forwarding.journal")

  init(_ state: JournalState) { lock = BlockingMutex(state) }

  /// Calls `body` with the state in place, under the lock.
  @inline(__always)
  func withLock<Result, Failure: Error>(
    _ body: (inout JournalState) throws(Failure) -> Result
  ) throws(Failure) -> Result { try lock.withLock(body) }

  /// Calls `body` under the lock until it returns a result; waits while it returns nil.
  @inline(__always)
  func wait<Result, Failure: Error>(
    _ body: (inout JournalState) throws(Failure) -> Result?
  ) throws(Failure) -> Result { try lock.wait(body) }

  /// Changes the state, wakes threads, and resumes the tasks whose condition is met.
  func announce<Result>(_ body: (inout JournalState) -> Result) -> Result {
    let (result, ready) = lock.announce { state in (body(&state), state.takeReady()) }
    for task in ready { task.resume() }
    return result
  }

  /// Runs `body` on the thread of the journal while the task is suspended.
  nonisolated(nonsending) func perform<Value: Sendable>(
    _ body: @escaping @Sendable () throws(JournalError) -> Value
  ) async throws(JournalError) -> Value {
    try await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(returning: Result { () throws(JournalError) in try body() })
      }
    }.get()
  }

  /// Suspends the task until its condition is met or can no longer be met. If the thread of the
  /// journal does not sync for tasks yet, it starts to run `serve`.
  nonisolated(nonsending) func suspend(
    until wanted: JournalWaiter.Wanted, _ serve: @escaping @Sendable () -> Void
  ) async throws(JournalError) {
    let error = await withCheckedContinuation { continuation in
      let waiter = JournalWaiter(wanted: wanted, continuation: continuation)
      let (ready, mustServe) = lock.withLock { state -> (ReadyTask?, Bool) in
        if let ready = state.ready(waiter) { return (ready, false) }
        state.suspended.append(waiter)
        guard case .synced = wanted, !state.isServed else { return (nil, false) }
        state.isServed = true
        return (nil, true)
      }
      ready?.resume()
      if mustServe { queue.async(execute: serve) }
    }
    if let error { throw error }
  }
}

/// A suspended task.
struct JournalWaiter {
  enum Wanted {
    /// All records below a sequence number are on the disk.
    case synced(UInt64)
    /// No rotation is replacing the file.
    case unchanged
  }

  let wanted: Wanted
  let continuation: CheckedContinuation<JournalError?, Never>
}

/// A task that can be resumed, with the error that it throws, if any.
struct ReadyTask {
  let waiter: JournalWaiter
  let error: JournalError?

  func resume() { waiter.continuation.resume(returning: error) }
}

extension JournalState {
  /// The highest sequence number that a task waits for.
  var lastWanted: UInt64? {
    suspended.reduce(nil) { last, waiter in
      guard case .synced(let number) = waiter.wanted else { return last }
      return max(last ?? 0, number)
    }
  }

  /// Returns the task if its condition is met or can no longer be met; nil if it has to wait.
  func ready(_ waiter: JournalWaiter) -> ReadyTask? {
    switch waiter.wanted {
    case .synced(let number):
      if synced >= number { return ReadyTask(waiter: waiter, error: nil) }
      return file == nil ? ReadyTask(waiter: waiter, error: failure ?? .closed(path: path)) : nil
    case .unchanged: return isChanging ? nil : ReadyTask(waiter: waiter, error: nil)
    }
  }

  /// Removes and returns the tasks that can be resumed.
  mutating func takeReady() -> [ReadyTask] {
    if suspended.isEmpty { return [] }
    var (ready, waiting): ([ReadyTask], [JournalWaiter]) = ([], [])
    for waiter in suspended {
      if let task = self.ready(waiter) { ready.append(task) } else { waiting.append(waiter) }
    }
    if ready.isEmpty { return [] }
    suspended = waiting
    resumed = ready.count
    return ready
  }
}
