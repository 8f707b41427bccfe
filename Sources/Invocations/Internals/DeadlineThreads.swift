// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// The threads that perform the closures of ``Deadlines``.
///
/// A closure may take long: it connects, or cancels a task, and so runs handlers of users. A queue
/// of the system has a limited number of threads, which the program may all keep busy or block.
/// Here, closures that wait behind others get threads of their own, so no closure keeps another one
/// from being performed.
final class DeadlineThreads: Sendable {
  /// The time after which closures count as held up, in nanoseconds: they wait, and none was taken.
  private static let patience: UInt64 = 10_000_000

  private let state = Guarded(State())
  private let hasWork = Condition()

  private struct State {
    /// The closures that wait, in order, behind those that were taken.
    var closures: [(@Sendable () -> Void)?] = []
    var next = 0
    /// The number of closures that were ever taken, now and at the previous look.
    var taken = 0
    var takenBefore = 0
    /// The time of the next look.
    var look: UInt64 = 0
    /// The number of threads, and of those that wait for closures.
    var threads = 0
    var idle = 0

    var waiting: Int { closures.count - next }

    mutating func add(_ new: [@Sendable () -> Void], at now: UInt64) {
      if waiting == 0 { (takenBefore, look) = (taken, now + DeadlineThreads.patience) }
      closures += new as [(@Sendable () -> Void)?]
    }

    /// The number of threads to add if closures are held up. It doubles the number each time, as
    /// hundreds may be blocked.
    mutating func missingThreads(at now: UInt64) -> Int {
      guard waiting > 0, now >= look else { return 0 }
      let isHeldUp = taken == takenBefore && idle == 0
      (takenBefore, look) = (taken, now + DeadlineThreads.patience)
      return isHeldUp ? min(waiting, threads) : 0
    }

    mutating func take() -> (@Sendable () -> Void)? {
      guard waiting > 0 else { return nil }
      let closure = closures[next].take()
      next += 1
      taken += 1
      if waiting == 0 {
        closures = []
        next = 0
      }
      return closure
    }
  }

  /// Performs closures on other threads. While closures wait, returns the time at which this must be
  /// called again, as they may need more threads; otherwise `.max`.
  func perform(_ new: [@Sendable () -> Void]) -> UInt64 {
    let now = DispatchTime.now().uptimeNanoseconds
    let (missing, look): (Int, UInt64) = state.withLockInPlace { state in
      // The first thread is there before it is needed: the system may have none left by then.
      let missing = max(state.threads == 0 ? 1 : 0, state.missingThreads(at: now))
      state.add(new, at: now)
      if state.waiting > 0, state.idle > 0 { hasWork.announce() }
      state.threads += missing
      return (missing, state.waiting > 0 ? state.look : .max)
    }
    var begun = 0
    while begun < missing, SystemThread.begin({ self.run() }) { begun += 1 }
    // The system may have more threads later.
    if begun < missing { state.withLockInPlace { $0.threads -= missing - begun } }
    return look
  }

  private func run() {
    while let closure = next() { closure() }
  }

  /// Waits for a closure to perform; nil if the thread ends.
  private func next() -> (@Sendable () -> Void)? {
    var isIdle = false
    return state.wait(until: hasWork) { state in
      if let closure = state.take() {
        if isIdle { state.idle -= 1 }
        return .done(closure)
      }
      if isIdle { return .until(.max) }
      // One thread waits for more, and the others end.
      guard state.idle == 0 else {
        state.threads -= 1
        return .done(nil)
      }
      state.idle += 1
      isIdle = true
      return .until(.max)
    }
  }
}
