// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

/// A result that is set once, and that one task awaits. Successes without an answer, such as the
/// end of a pause, are nil.
struct OneShot: Sendable {
  typealias Outcome = Result<RemoteAnswer?, RemoteError>

  private struct State {
    var outcome: Outcome?
    /// Resumes the awaiting task. It is a closure, as the size of a continuation is known only at
    /// run time.
    var resume: (@Sendable (Outcome) -> Void)?
  }

  private let state = Guarded(State())

  /// Sets the outcome. Only the first call has an effect.
  func finish(_ outcome: Outcome) {
    let resume: (@Sendable (Outcome) -> Void)? = state.withLockInPlace { state in
      guard state.outcome == nil else { return nil }
      state.outcome = outcome
      return state.resume.take()
    }
    resume?(outcome)
  }

  /// Awaits the outcome, which is `atEnd` if it is not set in time, and ``RemoteError/cancelled`` if
  /// the task is cancelled before.
  nonisolated(nonsending) func wait(until end: DispatchTime, atEnd: Outcome) async -> Outcome {
    // A host in this process has answered by now, so no timer is needed.
    if let outcome = state.read({ $0.outcome }) { return outcome }
    let timer = Deadlines.shared.add(at: end) { finish(atEnd) }
    defer { Deadlines.shared.cancel(timer) }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known: Outcome? = state.withLockInPlace { state in
          if state.outcome == nil { state.resume = { continuation.resume(returning: $0) } }
          return state.outcome
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      finish(.failure(.cancelled))
    }
  }
}
