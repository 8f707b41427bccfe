#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Work of the user's that is done once for each key, by the first thread that needs it; other
/// threads that need it wait.
///
/// No lock is held meanwhile. A thread that would wait for itself does not wait: because it is the
/// one that works, or because those who work wait for each other in a circle.
final class OnceForEach<Key: Hashable & Sendable>: Sendable {
  private struct Worker: Hashable {
    let thread: UInt
    /// In a forked child no thread of the parent goes on.
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
    /// What each worker waits for.
    var waiting: [Worker: Key] = [:]

    /// Whether the work on a key cannot go on before a worker does.
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
  private let ended = Announcement()

  /// Does the work, unless `isDone` says that it was done; waits for a thread that is doing it.
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
    // Asked under no lock: another thread may have done it meanwhile.
    if !isDone() { work() }
    state.withLockInPlace { state in
      state.workers[key] = nil
      ended.announce()
    }
  }
}
