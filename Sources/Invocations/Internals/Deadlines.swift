// SPDX-License-Identifier: Apache-2.0
package import Dispatch

/// Closures that are called at their deadlines unless they are cancelled.
///
/// One thread at a time, the *leader*, waits for the first deadline. When that comes, it lets another
/// thread lead, and calls the closure itself: a closure may take long, as it connects, or runs handlers
/// of users. One thread stays to lead next, and further ones end.
///
/// A system timer is a file: it never fires in a process that cannot open more files, and then nothing
/// would end that waits for its deadline. The threads of a queue of the system may all be busy, or wait
/// for deadlines themselves.
package final class Deadlines: Sendable {
  package static let shared = Deadlines()

  private let state = Guarded(State())
  private let change = Condition()

  /// Identifies a deadline, for ``cancel(_:)``.
  package struct Number: Sendable {
    fileprivate let time: UInt64
    fileprivate let serial: UInt64
  }

  private struct State {
    /// By time. Most are added at the end, and taken at the beginning or soon after they were added.
    var entries: [(number: Number, action: @Sendable () -> Void)] = []
    var serial: UInt64 = 0
    /// Whether a thread leads, or begins for that.
    var isLed = false
    /// Whether a thread waits to lead next.
    var hasNext = false

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
  }

  /// The number of closures that are waiting.
  package var count: Int { state.read { $0.entries.count } }

  /// Schedules a closure, which is called on another thread.
  package func add(at time: DispatchTime, _ action: @escaping @Sendable () -> Void) -> Number {
    let number = state.withLockInPlace { state in
      state.serial += 1
      let number = Number(time: time.uptimeNanoseconds, serial: state.serial)
      let place = state.place(of: number)
      state.entries.insert((number, action), at: place)
      if place == 0 { change.announce() }
      return number
    }
    lead()
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

  /// Begins a thread that leads, unless there is one.
  private func lead() {
    let isMissing = state.withLockInPlace { state in
      if state.isLed || state.hasNext { return false }
      state.isLed = true
      return true
    }
    if !isMissing || SystemThread.begin({ self.run() }) { return }
    // The system has no thread at the moment, and may have one later.
    state.withLockInPlace { $0.isLed = false }
    DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + .milliseconds(50)) {
      self.lead()
    }
  }

  private func run() {
    var leads = true
    while let closure = next(&leads) {
      lead()
      closure()
    }
  }

  /// Waits for a closure to call; nil if the thread ends.
  private func next(_ leads: inout Bool) -> (@Sendable () -> Void)? {
    var isNext = false
    return state.wait(until: change) { state in
      if !leads {
        if state.isLed {
          if state.hasNext, !isNext { return .done(nil) }
          (state.hasNext, isNext) = (true, true)
          return .until(.max)
        }
        if isNext { (state.hasNext, isNext) = (false, false) }
        (state.isLed, leads) = (true, true)
      }
      guard let first = state.entries.first?.number.time else { return .until(.max) }
      if first > DispatchTime.now().uptimeNanoseconds { return .until(first) }
      // The array keeps no closure that runs, and so releases none under the lock.
      let closure = state.entries.removeFirst().action
      (state.isLed, leads) = (false, false)
      change.announce()
      return .done(closure)
    }
  }
}
