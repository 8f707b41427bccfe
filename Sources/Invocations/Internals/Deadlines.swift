// SPDX-License-Identifier: Apache-2.0
package import Dispatch

/// Closures that are called at their deadlines unless they are cancelled. One clock serves them
/// all.
///
/// The clock is a thread that waits for a condition, started with the first deadline. A system
/// timer is a file: it never fires in a process that cannot open more files, and then nothing would
/// end that waits for its deadline. The closures are called by other threads, of this package: those
/// of a queue of the system may all be busy, or wait for deadlines themselves. A closure may take long,
/// as it connects, or runs handlers of users, so those that wait behind it get threads of their own.
package final class Deadlines: Sendable {
  package static let shared = Deadlines()

  /// The time after which closures count as held up, in nanoseconds: they wait, and none was taken.
  private static let patience: UInt64 = 10_000_000

  private let state = Guarded(State())
  private let isEarlier = Condition()
  private let hasWork = Condition()

  /// Identifies a deadline, for ``cancel(_:)``.
  package struct Number: Sendable {
    fileprivate let time: UInt64
    fileprivate let serial: UInt64
  }

  private struct State {
    /// By time. Most are added at the end, and taken at the beginning or soon after they were added.
    var entries: [(number: Number, action: @Sendable () -> Void)] = []
    var serial: UInt64 = 0
    /// The closures that are due, and the time at which the clock looks whether they are held up.
    var due: [@Sendable () -> Void] = []
    var look: UInt64 = 0
    /// The number of closures that were ever taken, now and at the previous look.
    var taken = 0
    var takenBefore = 0
    /// The number of threads, and of those that wait for closures.
    var threads = 0
    var idle = 0
    /// The time at which the clock wakes up.
    var next: UInt64 = 0
    var isRunning = false

    /// The place of the first deadline that is not before another one.
    func place(of number: Number) -> Int {
      var (low, high) = (0, entries.count)
      while low < high {
        let middle = (low + high) / 2
        let other = entries[middle].number
        if (other.time, other.serial) < (number.time, number.serial) {
          low = middle + 1
        } else {
          high = middle
        }
      }
      return low
    }

    /// The number of threads to begin for the closures that are due, or the time of the next step.
    /// It doubles the number of threads each time, as hundreds may be blocked.
    mutating func step(at now: UInt64) -> Guarded<State>.Waiting<Int> {
      let count = place(of: Number(time: now, serial: .max))
      due += entries[..<count].map(\.action)
      entries.removeFirst(count)
      next = entries.first?.number.time ?? .max
      if !due.isEmpty {
        if now >= look {
          let isHeldUp = taken == takenBefore && idle == 0
          (takenBefore, look) = (taken, now + Deadlines.patience)
          if isHeldUp { return .done(min(due.count, max(threads, 1))) }
        }
        next = min(next, look)
      }
      return .until(next)
    }
  }

  /// The number of closures that are waiting.
  package var count: Int { state.read { $0.entries.count } }

  /// Schedules a closure, which is called on another thread.
  package func add(at time: DispatchTime, _ action: @escaping @Sendable () -> Void) -> Number {
    let (number, isRunning) = state.withLockInPlace { state in
      state.serial += 1
      let number = Number(time: time.uptimeNanoseconds, serial: state.serial)
      state.entries.insert((number, action), at: state.place(of: number))
      if number.time < state.next { isEarlier.announce() }
      return (number, state.isRunning)
    }
    if !isRunning { begin() }
    return number
  }

  /// Schedules a closure after an interval.
  @discardableResult
  package func add(in pause: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void)
    -> Number
  {
    add(at: .now() + pause, action)
  }

  /// Cancels a closure.
  package func cancel(_ number: Number) {
    let old = state.withLockInPlace { state in
      let place = state.place(of: number)
      let isSet = place < state.entries.count && state.entries[place].number.serial == number.serial
      return isSet ? state.entries.remove(at: place) : nil
    }
    withExtendedLifetime(old) {}
  }

  // MARK: Times

  /// A duration as a time to wait: zero if it is negative, and at most about a century. A clock traps
  /// where its time and a duration have no sum, and so does `components` where there are too many
  /// seconds.
  package static func bounded(_ limit: Duration) -> Duration {
    min(max(limit, .zero), .seconds(3_200_000_000))
  }

  /// The time after a duration from now, which is bounded.
  package static func time(after limit: Duration) -> DispatchTime {
    let (seconds, attoseconds) = bounded(limit).components
    return .now() + .nanoseconds(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
  }

  // MARK: Threads

  /// Begins the clock, unless it runs.
  private func begin() {
    let isFirst = state.withLockInPlace { state in
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if !isFirst || SystemThread.begin({ self.run() }) { return }
    // The system has no thread at the moment, and may have one later.
    state.withLockInPlace { $0.isRunning = false }
    DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + .milliseconds(50)) {
      self.begin()
    }
  }

  /// Waits for deadlines, and begins the threads that call their closures: the first one at once, as
  /// the system may have none later.
  private func run() {
    var missing = 1
    while true {
      for _ in 0..<missing {
        state.withLockInPlace { $0.threads += 1 }
        if SystemThread.begin({ while let closure = self.next() { closure() } }) { continue }
        state.withLockInPlace { $0.threads -= 1 }
      }
      missing = state.wait(until: isEarlier) { state in
        let step = state.step(at: DispatchTime.now().uptimeNanoseconds)
        if !state.due.isEmpty, state.idle > 0 { hasWork.announce() }
        return step
      }
    }
  }

  /// Waits for a closure to call; nil if the thread ends.
  private func next() -> (@Sendable () -> Void)? {
    var isIdle = false
    return state.wait(until: hasWork) { state in
      if !state.due.isEmpty {
        // The array keeps no closure that runs, and so releases none under the lock.
        let closure = state.due.removeFirst()
        state.taken += 1
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
