import Dispatch
import Invocations

/// Closures that are called when their time has come, unless they are taken back: one timer for all.
final class Deadlines: Sendable {
  static let shared = Deadlines()

  private let state = Guarded(State())

  private struct State {
    /// A heap: the earliest first. One that was taken back stays until its time, or until they are many.
    var heap: [(time: UInt64, number: UInt64)] = []
    var actions: [UInt64: @Sendable () -> Void] = [:]
    var number: UInt64 = 0
    /// When the timer is to look next.
    var next = UInt64.max

    mutating func push(_ time: UInt64, _ number: UInt64) {
      heap.append((time, number))
      var child = heap.count - 1
      while child > 0, heap[child].time < heap[(child - 1) / 2].time {
        heap.swapAt(child, (child - 1) / 2)
        child = (child - 1) / 2
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

    /// Takes out what was taken back.
    mutating func tidy() {
      heap = heap.filter { actions[$0.number] != nil }.sorted { $0.time < $1.time }
    }
  }

  /// Calls a closure at a time, on a thread of its own choice. Returns a number to take it back with.
  func add(at time: DispatchTime, _ action: @escaping @Sendable () -> Void) -> UInt64 {
    let (number, isEarliest) = state.withLockInPlace { state in
      state.number += 1
      state.actions[state.number] = action
      state.push(time.uptimeNanoseconds, state.number)
      let isEarliest = time.uptimeNanoseconds < state.next
      if isEarliest { state.next = time.uptimeNanoseconds }
      return (state.number, isEarliest)
    }
    if isEarliest { look(at: time) }
    return number
  }

  /// Takes a closure back.
  func cancel(_ number: UInt64) {
    let old: (@Sendable () -> Void)? = state.withLockInPlace { state in
      let old = state.actions.removeValue(forKey: number)
      if state.heap.count > 64, state.heap.count > 4 * state.actions.count { state.tidy() }
      return old
    }
    withExtendedLifetime(old) {}
  }

  private func look(at time: DispatchTime) {
    DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: time) { [self] in
      let now = DispatchTime.now().uptimeNanoseconds
      let (due, next): ([@Sendable () -> Void], UInt64?) = state.withLockInPlace { state in
        // An earlier look came in between, and has seen to the next one.
        guard state.next == time.uptimeNanoseconds else { return ([], nil) }
        var due: [@Sendable () -> Void] = []
        while let first = state.heap.first, first.time <= now {
          state.pop()
          if let action = state.actions.removeValue(forKey: first.number) { due.append(action) }
        }
        state.next = state.heap.first?.time ?? .max
        return (due, state.heap.first?.time)
      }
      for action in due { action() }
      if let next { look(at: DispatchTime(uptimeNanoseconds: next)) }
    }
  }
}
