// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Runs code of users once for each key, on the first thread that needs it. Other threads that need
/// it wait.
///
/// No lock is held meanwhile. A thread never waits for itself, neither directly nor through a cycle
/// of waiting threads.
final class OnceForEach<Key: Hashable & Sendable>: Sendable {
  private struct Worker: Hashable {
    let thread: UInt
    /// The process, because in a forked child the threads of the parent do not run.
    let process: pid_t

    static var current: Worker {
      #if canImport(Darwin)
        let thread = unsafe UInt(bitPattern: pthread_self())
      #else
        let thread = UInt(pthread_self())
      #endif
      return Worker(thread: thread, process: getpid())
    }
  }

  private struct State {
    var workers: [Key: Worker] = [:]
    /// The key that each worker waits for.
    var waiting: [Worker: Key] = [:]

    /// Whether the work for a key is done by a worker, or waits for one.
    func depends(_ key: Key, on worker: Worker) -> Bool {
      var next: Key? = key
      while let key = next, let other = workers[key] {
        if other == worker { return true }
        next = waiting[other]
      }
      return false
    }
  }

  private let state = Guarded(State())
  private let ended = Condition()

  /// Does the work, unless `isDone` returns true. Waits for another thread that is doing it.
  func run(_ key: Key, unless isDone: () -> Bool, _ work: () -> Void) {
    if isDone() { return }
    let me = Worker.current
    let isMine = state.wait(for: ended) { state -> Bool? in
      state.waiting[me] = nil
      if let worker = state.workers[key], worker.process == me.process {
        if state.depends(key, on: me) { return false }
        state.waiting[me] = key
        return nil
      }
      state.workers[key] = me
      return true
    }
    guard isMine else { return }
    // Checked without a lock, because another thread may have done the work meanwhile.
    if !isDone() { work() }
    state.withLockInPlace { state in
      state.workers[key] = nil
      ended.announce()
    }
  }
}
