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

  /// One for all, set anew whenever another deadline is the first.
  private let timer = Timer()

  private struct Timer: @unchecked Sendable {
    // SAFETY: a timer may be set from any thread, and is under the lock.
    let source = DispatchSource.makeTimerSource(queue: .global(qos: .userInitiated))
  }

  private init() {
    timer.source.setEventHandler { [unowned self] in look() }
    timer.source.activate()
  }

  /// How many closures are to be called.
  var count: Int { state.read { $0.actions.count } }

  /// Calls a closure at a time, on a thread of its own choice. Returns a number to take it back with.
  func add(at time: DispatchTime, _ action: @escaping @Sendable () -> Void) -> UInt64 {
    state.withLockInPlace { state in
      state.number += 1
      state.actions[state.number] = action
      state.push(time.uptimeNanoseconds, state.number)
      if time.uptimeNanoseconds < state.next { set(&state) }
      return state.number
    }
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

  /// Sets the timer to the first deadline.
  private func set(_ state: inout State) {
    state.next = state.heap.first?.time ?? .max
    if let first = state.heap.first {
      timer.source.schedule(deadline: DispatchTime(uptimeNanoseconds: first.time))
    }
  }

  private func look() {
    let now = DispatchTime.now().uptimeNanoseconds
    let due: [@Sendable () -> Void] = state.withLockInPlace { state in
      var due: [@Sendable () -> Void] = []
      while let first = state.heap.first,
        first.time <= now || state.actions[first.number] == nil
      {
        state.pop()
        if let action = state.actions.removeValue(forKey: first.number) { due.append(action) }
      }
      set(&state)
      return due
    }
    for action in due { action() }
  }
}
