import Dispatch
import Invocations

/// What a journal knows, behind its lock, and the tasks that wait for the disk.
///
/// Threads wait at the lock's condition. Tasks are suspended in a list, and resumed by the thread that has waited for the
/// disk: threads of Swift's pool are few, and all of them could stand still otherwise. For the same reason the lock
/// is held for moments only: while files change, the state says so.
final class JournalAccess: Sendable {
  private let lock: OwnLock<JournalState>
  /// The one thread that waits for the disk in place of tasks.
  private let queue = DispatchQueue(label: "forwarding.journal")

  init(_ state: JournalState) { lock = OwnLock(state) }

  /// Changes the state where it is.
  @inline(__always)
  func withLock<Result, Failure: Error>(
    _ body: (inout JournalState) throws(Failure) -> Result
  ) throws(Failure) -> Result { try lock.withLock(body) }

  /// Changes the state as soon as `body` returns a result, and waits while it returns nil.
  @inline(__always)
  func wait<Result, Failure: Error>(
    _ body: (inout JournalState) throws(Failure) -> Result?
  ) throws(Failure) -> Result { try lock.wait(body) }

  /// Changes the state, wakes threads, and resumes the tasks that have what they wait for.
  func announce<Result>(_ body: (inout JournalState) -> Result) -> Result {
    let (result, ready) = lock.announce { state in (body(&state), state.takeReady()) }
    for task in ready { task.resume() }
    return result
  }

  /// Does something on the thread of the journal, while the task is suspended.
  nonisolated(nonsending) func perform<Value: Sendable>(
    _ body: @escaping @Sendable () throws(JournalError) -> Value
  ) async throws(JournalError) -> Value {
    try await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(returning: Result { () throws(JournalError) in try body() })
      }
    }.get()
  }

  /// Suspends the task until it has what it waits for, or cannot get it. Where nobody brings records to the disk for
  /// tasks yet, `serve` does, on the thread of the journal.
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

/// A task that is suspended.
struct JournalWaiter {
  enum Wanted {
    /// All records below a number are on the disk.
    case synced(UInt64)
    /// Files do not change.
    case unchanged
  }

  let wanted: Wanted
  let continuation: CheckedContinuation<JournalError?, Never>
}

/// A task, and what it is told.
struct ReadyTask {
  let waiter: JournalWaiter
  let error: JournalError?

  func resume() { waiter.continuation.resume(returning: error) }
}

extension JournalState {
  /// The highest number that a task waits for.
  var lastWanted: UInt64? {
    suspended.reduce(nil) { last, waiter in
      guard case .synced(let number) = waiter.wanted else { return last }
      return max(last ?? 0, number)
    }
  }

  /// A task that has what it waits for, or cannot get it any more; nil for one that must wait.
  func ready(_ waiter: JournalWaiter) -> ReadyTask? {
    switch waiter.wanted {
    case .synced(let number):
      if synced >= number { return ReadyTask(waiter: waiter, error: nil) }
      return file == nil ? ReadyTask(waiter: waiter, error: failure ?? .closed(path: path)) : nil
    case .unchanged: return isChanging ? nil : ReadyTask(waiter: waiter, error: nil)
    }
  }

  /// Takes those tasks out.
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
