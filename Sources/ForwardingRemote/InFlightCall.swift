// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

/// A call in progress. Its task may be cancelled, or may end, before it is recorded here.
final class InFlightCall: Sendable {
  private let state = Guarded(State())
  /// The connection by which it arrived; nil if that is not known.
  let connection: ObjectIdentifier?

  init(_ connection: ObjectIdentifier?) { self.connection = connection }

  private struct State {
    var task: Task<Void, Never>?
    /// The timer that cancels the task when its time is over.
    var deadline: Deadlines.Number?
    var isCancelled = false
    var isLate = false
    var hasEnded = false
  }

  /// Records the task of the call, and how long the caller waits for it; 0 if the caller does not
  /// wait.
  func begin(_ task: Task<Void, Never>, milliseconds: UInt32) {
    if state.read({ $0.hasEnded }) { return }
    var deadline: Deadlines.Number?
    if milliseconds > 0 {
      deadline = Deadlines.shared.add(in: .milliseconds(Int(milliseconds))) { [self] in
        cancel(isLate: true)
      }
    }
    let (hasEnded, isCancelled) = state.withLockInPlace { state in
      if state.hasEnded { return (true, false) }
      state.task = task
      state.deadline = deadline
      return (false, state.isCancelled)
    }
    if isCancelled { task.cancel() }
    if hasEnded, let deadline { Deadlines.shared.cancel(deadline) }
  }

  /// Cancels the task, now or once it is recorded.
  func cancel(isLate: Bool = false) {
    let task = state.withLockInPlace { state in
      state.isCancelled = true
      if isLate { state.isLate = true }
      return state.task
    }
    task?.cancel()
  }

  /// Marks the call as ended. Returns whether its time was over before that.
  func end() -> Bool {
    let before = state.withLock { state in
      let before = state
      state.hasEnded = true
      state.task = nil
      return before
    }
    if let deadline = before.deadline { Deadlines.shared.cancel(deadline) }
    return before.isLate
  }
}
