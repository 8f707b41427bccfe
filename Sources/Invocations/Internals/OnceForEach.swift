// SPDX-License-Identifier: Apache-2.0
/// Runs code of users once for each key, on the first thread that needs it. Other threads that need
/// it wait.
///
/// No lock is held meanwhile. A thread never waits for itself, neither directly nor through a cycle
/// of waiting threads.
final class OnceForEach<Key: Hashable & Sendable>: Sendable {
  private struct State {
    /// The threads that do the work.
    var workers: [Key: UInt] = [:]
    /// The key that each thread waits for.
    var waiting: [UInt: Key] = [:]

    /// Whether the work for a key is done by a thread, or waits for it.
    func depends(_ key: Key, on thread: UInt) -> Bool {
      var next: Key? = key
      while let key = next, let other = workers[key] {
        if other == thread { return true }
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
    let me = SystemThread.current
    let isMine = state.wait(until: ended) { state in
      state.waiting[me] = nil
      if state.workers[key] != nil {
        if state.depends(key, on: me) { return .done(false) }
        state.waiting[me] = key
        return .until(.max)
      }
      state.workers[key] = me
      return .done(true)
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
