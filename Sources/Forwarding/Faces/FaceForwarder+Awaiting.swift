// Requirements that are async. What a face has in its hands stays where its method runs.

extension FaceMessage {
  /// Sends a message and awaits the answer.
  public nonisolated(nonsending) static func sendAwaiting<Result, each Argument>(
    _ requirement: Requirement<Result, repeat each Argument>, _ arguments: repeat each Argument,
    through forwarder: FaceForwarder
  ) async -> FaceAnswer<Result> {
    do {
      let message = try requirement.checked
      let call = try message.invocation(repeat each arguments)
      do {
        try await call.sendAwaitingOfFace(to: forwarder.proxy)
        return .answered(try call.call.answer(as: Result.self, message.prepared.result))
      } catch {
        return UnansweredMessages.take(call.call, error) ? .unanswered(error) : .failed(error)
      }
    } catch {
      return .failed(error)
    }
  }
}

extension FaceForwarder {
  /// Asks by `send`, for an `async` requirement that may throw.
  public nonisolated(nonsending) func askAwaiting<Result>(
    _ selector: @autoclosure () -> Selector,
    _ send: nonisolated(nonsending) () async -> FaceAnswer<Result>
  ) async throws -> Result {
    switch await send() {
    case .answered(let answer): return answer
    case .unanswered(let error):
      throw error is ForwardingError ? error : ForwardingError.nobodyAnswered(selector())
    case .failed(let error): throw error
    }
  }

  /// Asks by `send`, for an `async` requirement with a result that cannot throw.
  public nonisolated(nonsending) func askAwaiting<Result>(
    _ selector: @autoclosure () -> Selector,
    _ send: nonisolated(nonsending) () async -> FaceAnswer<Result>, otherwise: () -> Result
  ) async -> Result {
    switch await send() {
    case .answered(let answer): return answer
    case .unanswered: return otherwise()
    case .failed(let error):
      report(unheardOfAwaited: error, selector())
      return otherwise()
    }
  }

  /// Asks by `send`, for an `async` requirement with a result that may throw errors of one type. Others are
  /// told to the proxy.
  public nonisolated(nonsending) func askAwaiting<Result, Thrown: Error>(
    _ selector: @autoclosure () -> Selector, orThrow: Thrown.Type,
    _ send: nonisolated(nonsending) () async -> FaceAnswer<Result>, otherwise: () -> Result
  ) async throws(Thrown) -> Result {
    switch await send() {
    case .answered(let answer): return answer
    case .unanswered: return otherwise()
    case .failed(let error):
      if let error = error as? Thrown { throw error }
      report(unheardOfAwaited: error, selector())
      return otherwise()
    }
  }

  /// Tells by `send`, for an `async` requirement without a result that cannot throw.
  public nonisolated(nonsending) func tellAwaiting(
    _ selector: @autoclosure () -> Selector,
    _ send: nonisolated(nonsending) () async -> FaceAnswer<Void>
  ) async {
    await askAwaiting(selector(), send, otherwise: {})
  }

  /// Tells by `send`, for an `async` requirement without a result that may throw errors of one type.
  public nonisolated(nonsending) func tellAwaiting<Thrown: Error>(
    _ selector: @autoclosure () -> Selector, orThrow: Thrown.Type,
    _ send: nonisolated(nonsending) () async -> FaceAnswer<Void>
  ) async throws(Thrown) {
    try await askAwaiting(selector(), orThrow: orThrow, send, otherwise: {})
  }

  /// Tells of an error as others are told of. A sender that was cancelled knows it.
  private func report(unheardOfAwaited error: any Error, _ selector: Selector) {
    if error is CancellationError, Task.isCancelled { return }
    proxy.report(unheard: error, selector)
  }
}
