import Invocations

/// An answer that comes once, and who awaits it. What has no bytes of its own ends with nil.
struct OneAnswer: Sendable {
  typealias Outcome = Result<RemoteAnswer?, RemoteError>

  private let state = Guarded(State())

  private typealias Waiting = (CheckedContinuation<Outcome, Never>?, (@Sendable () -> Void)?)

  private struct State {
    var outcome: Outcome?
    var waiting: CheckedContinuation<Outcome, Never>?
    var whenFinished: (@Sendable () -> Void)?
  }

  /// Gives the answer; only the first one counts.
  func finish(_ outcome: Outcome) {
    let (waiting, whenFinished) = state.withLockInPlace { state in
      if state.outcome != nil { return (nil, nil) as Waiting }
      defer { state = State(outcome: outcome) }
      return (state.waiting, state.whenFinished)
    }
    waiting?.resume(returning: outcome)
    whenFinished?()
  }

  /// Calls a closure when the answer is there, if it is not yet.
  func whenFinished(_ body: @escaping @Sendable () -> Void) {
    let isFinished = state.withLockInPlace { state in
      if state.outcome == nil { state.whenFinished = body }
      return state.outcome != nil
    }
    if isFinished { body() }
  }

  /// What is known so far.
  var outcome: Outcome? { state.read { $0.outcome } }

  /// Awaits the answer. It is ``RemoteError/cancelled`` if the task is, before.
  nonisolated(nonsending) func wait() async throws(RemoteError) -> RemoteAnswer? {
    if let known = outcome { return try known.get() }
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
