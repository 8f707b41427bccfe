import Invocations

/// An answer that comes once, and who awaits it.
final class OneAnswer<Value: Sendable>: Sendable {
  private enum State {
    case open
    case awaited(CheckedContinuation<Result<Value, RemoteError>, Never>)
    case finished(Result<Value, RemoteError>)
  }

  private let state = Guarded(State.open)
  private let finished = Guarded<(@Sendable () -> Void)?>(nil)

  /// Gives the answer; only the first one counts.
  func finish(_ result: Result<Value, RemoteError>) {
    let before = state.withLock { state in
      let before = state
      if case .finished = state {} else { state = .finished(result) }
      return before
    }
    switch before {
    case .open: break
    case .awaited(let continuation): continuation.resume(returning: result)
    case .finished: return
    }
    finished.read { $0 }?()
  }

  /// Calls a closure when the answer is there, if it is not yet.
  func whenFinished(_ body: @escaping @Sendable () -> Void) {
    finished.withLock { $0 = body }
    if case .finished = state.read({ $0 }) { body() }
  }

  /// Awaits the answer. It is ``RemoteError/cancelled`` if the task is, before.
  func wait() async throws(RemoteError) -> Value {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known: Result<Value, RemoteError>? = state.withLock { state in
          if case .finished(let result) = state { return result }
          state = .awaited(continuation)
          return nil
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      finish(.failure(.cancelled))
    }
    return try result.get()
  }
}
