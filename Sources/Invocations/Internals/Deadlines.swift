// SPDX-License-Identifier: Apache-2.0
package import Dispatch

/// Closures that are called at their deadlines unless they are cancelled. One clock serves them
/// all.
///
/// The clock is a thread that waits for a condition, started with the first deadline. A system
/// timer is a file: it never fires in a process that cannot open more files, and then nothing would
/// end that waits for its deadline. The closures are called by other threads, of this package:
/// those of a queue of the system may all be busy, or wait for deadlines themselves.
package final class Deadlines: Sendable {
  package static let shared = Deadlines()

  private let state = Guarded(State())
  private let isEarlier = Condition()
  private let threads = DeadlineThreads()

  /// Identifies a deadline, for ``cancel(_:)``.
  package struct Number: Sendable {
    fileprivate let place: Int
    fileprivate let turn: UInt64
  }

  private struct State {
    struct Entry {
      let time: UInt64
      let number: Number
    }

    /// A min-heap by time. A cancelled entry may stay until its time, or until there are many.
    var heap: [Entry] = []
    /// The closures. The turn of a place increases when the place becomes free.
    var places: [(turn: UInt64, action: (@Sendable () -> Void)?)] = []
    var free: [Int] = []
    /// The time at which the thread wakes up; 0 while it is awake.
    var next: UInt64 = 0
    var isRunning = false

    mutating func add(_ time: UInt64, _ action: @escaping @Sendable () -> Void) -> Number {
      if free.isEmpty {
        free.append(places.count)
        places.append((0, nil))
      }
      let place = free.removeLast()
      places[place].action = action
      let number = Number(place: place, turn: places[place].turn)
      heap.append(Entry(time: time, number: number))
      var child = heap.count - 1
      while child > 0, heap[child].time < heap[(child - 1) / 2].time {
        heap.swapAt(child, (child - 1) / 2)
        child = (child - 1) / 2
      }
      return number
    }

    func isSet(_ number: Number) -> Bool { places[number.place].turn == number.turn }

    /// Removes a closure, if it is still there.
    mutating func take(_ number: Number) -> (@Sendable () -> Void)? {
      guard isSet(number) else { return nil }
      let action = places[number.place].action
      places[number.place] = (number.turn + 1, nil)
      free.append(number.place)
      return action
    }

    /// Removes cancelled entries: at once at the end of the heap, where most of those are that end
    /// in time, and others when there are many.
    mutating func tidy() {
      while let last = heap.last, !isSet(last.number) { heap.removeLast() }
      if heap.count > 64, heap.count > 4 * (places.count - free.count) {
        heap = heap.filter { isSet($0.number) }.sorted { $0.time < $1.time }
      }
    }

    mutating func pop() {
      heap.swapAt(0, heap.count - 1)
      heap.removeLast()
      var parent = 0
      while true {
        let left = 2 * parent + 1
        guard left < heap.count else { return }
        let right = left + 1
        let least = right < heap.count && heap[right].time < heap[left].time ? right : left
        guard heap[least].time < heap[parent].time else { return }
        heap.swapAt(least, parent)
        parent = least
      }
    }

    /// Removes the closures that are due, and returns them.
    mutating func due() -> [@Sendable () -> Void] {
      let now = DispatchTime.now().uptimeNanoseconds
      var due: [@Sendable () -> Void] = []
      while let first = heap.first, first.time <= now || !isSet(first.number) {
        pop()
        if let action = take(first.number) { due.append(action) }
      }
      return due
    }
  }

  /// The number of closures that are waiting.
  package var count: Int { state.read { $0.places.count - $0.free.count } }

  /// Schedules a closure, which is called on a thread of ``DeadlineThreads``.
  package func add(at time: DispatchTime, _ action: @escaping @Sendable () -> Void) -> Number {
    let (number, isFirst) = state.withLockInPlace { state in
      let number = state.add(time.uptimeNanoseconds, action)
      if time.uptimeNanoseconds < state.next { isEarlier.announce() }
      defer { state.isRunning = true }
      return (number, !state.isRunning)
    }
    if isFirst { begin() }
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
      let old = state.take(number)
      state.tidy()
      return old
    }
    withExtendedLifetime(old) {}
  }

  // MARK: The thread

  private func begin() {
    if SystemThread.begin({ Deadlines.shared.run() }) { return }
    // The system has no thread at the moment, and may have one later. Until then no deadline fires,
    // unless the next one that is added begins the thread.
    state.withLockInPlace { $0.isRunning = false }
    DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + .milliseconds(50)) {
      let isFirst = self.state.withLockInPlace { state in
        defer { state.isRunning = true }
        return !state.isRunning
      }
      if isFirst { self.begin() }
    }
  }

  /// Waits for deadlines. The closures are performed by other threads, as they may take long.
  private func run() {
    // Begins a thread for them, as the system may have none later.
    var look = threads.perform([])
    while true {
      let due: [@Sendable () -> Void] = state.wait(until: isEarlier) { state in
        let due = state.due()
        let isOver = !due.isEmpty || look <= DispatchTime.now().uptimeNanoseconds
        state.next = isOver ? 0 : min(state.heap.first?.time ?? .max, look)
        return isOver ? .done(due) : .until(state.next)
      }
      look = threads.perform(due)
    }
  }
}
