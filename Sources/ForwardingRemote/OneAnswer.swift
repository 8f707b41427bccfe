import Invocations

/// An answer that comes once, and who awaits it. What has no bytes of its own ends with nil.
final class OneAnswer: Sendable {
  typealias Outcome = Result<RemoteAnswer?, RemoteError>

  private let state = Guarded(State())

  private struct State {
    var outcome: Outcome?
    var waiting: CheckedContinuation<Outcome, Never>?
    var whenFinished: (@Sendable () -> Void)?
  }

  /// Gives the answer; only the first one counts.
  func finish(_ outcome: Outcome) {
    let before: State = state.withLockInPlace { state in
      let before = state
      if before.outcome == nil { state = State(outcome: outcome) }
      return before
    }
    guard before.outcome == nil else { return }
    before.waiting?.resume(returning: outcome)
    before.whenFinished?()
  }

  /// Calls a closure when the answer is there, if it is not yet.
  func whenFinished(_ body: @escaping @Sendable () -> Void) {
    let isFinished = state.withLockInPlace { state in
      if state.outcome == nil { state.whenFinished = body }
      return state.outcome != nil
    }
    if isFinished { body() }
  }

  /// Awaits the answer. It is ``RemoteError/cancelled`` if the task is, before.
  func wait() async throws(RemoteError) -> RemoteAnswer? {
    let known = state.read { $0.outcome }
    if let known { return try known.get() }
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known: Outcome? = state.withLockInPlace { state in
          if state.outcome == nil { state.waiting = continuation }
          return state.outcome
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      finish(.failure(.cancelled))
    }
    return try outcome.get()
  }
}
