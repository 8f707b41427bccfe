import Invocations

/// An answer that comes once, and who awaits it. What has no bytes of its own ends with nil.
struct OneAnswer: Sendable {
  typealias Outcome = Result<RemoteAnswer?, RemoteError>

  private let state = Guarded(State())

  private struct State {
    var outcome: Outcome?
    /// Goes on with who waits: a closure, as how large a continuation is, is known at run time alone.
    var resume: (@Sendable (Outcome) -> Void)?
    var whenFinished: (@Sendable () -> Void)?
  }

  /// Gives the answer; only the first one counts.
  func finish(_ outcome: Outcome) {
    var (isFirst, before) = (false, State())
    state.withLockInPlace { state in
      isFirst = state.outcome == nil
      guard isFirst else { return }
      before = state
      state = State(outcome: outcome)
    }
    guard isFirst else { return }
    before.resume?(outcome)
    before.whenFinished?()
  }

  /// Calls a closure when the answer is there, or at once, in place of the closure that was to be called before: who
  /// awaits one step after the other waits for the last one alone.
  func onlyWhenFinished(_ body: @escaping @Sendable () -> Void) {
    let isFinished = state.withLockInPlace { state in
      if state.outcome == nil { state.whenFinished = body }
      return state.outcome != nil
    }
    if isFinished { body() }
  }

  /// What is known so far.
  var outcome: Outcome? { state.read { $0.outcome } }

  /// Whether it is known that the call was not sent.
  var isUnsent: Bool {
    if case .failure(.notCarried(.unsent)) = outcome { true } else { false }
  }

  /// Waits for an answer anew, as the call is sent again.
  func reopen() { state.withLockInPlace { $0.outcome = nil } }

  /// Awaits the answer. It is ``RemoteError/cancelled`` if the task is, before.
  nonisolated(nonsending) func wait() async throws(RemoteError) -> RemoteAnswer? {
    if let known = outcome { return try known.get() }
    let outcome = await withTaskCancellationHandler {
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
    return try outcome.get()
  }
}
