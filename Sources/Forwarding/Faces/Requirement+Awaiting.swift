// Requirements that are async. What a face has in its hands stays where its method runs.

extension FaceMessage {
  /// Sends a message and awaits the answer.
  public nonisolated(nonsending) static func sendAwaiting<Result, each Argument>(
    _ requirement: Requirement<Result, repeat each Argument>, _ arguments: repeat each Argument,
    through proxy: ForwardingProxy
  ) async throws -> Result {
    try await AsyncMessage(requirement.checked)(repeat each arguments, on: proxy)
  }
}

extension Requirement {
  /// Asks by `send`, for an `async` requirement that may throw.
  public nonisolated(nonsending) func askAwaiting(
    through proxy: ForwardingProxy,
    _ send: nonisolated(nonsending) (Requirement) async throws -> Result
  ) async throws -> Result {
    do {
      return try await send(self)
    } catch {
      throw proxy.isUnanswered(error, selector)
        ? ForwardingError.nobodyAnswered(selector) : error
    }
  }

  /// Asks by `send`, for an `async` requirement with a result that cannot throw.
  public nonisolated(nonsending) func askAwaiting(
    through proxy: ForwardingProxy,
    _ send: nonisolated(nonsending) (Requirement) async throws -> Result,
    otherwise: () -> Result
  ) async -> Result {
    do {
      return try await send(self)
    } catch {
      proxy.report(unheardOfAwaited: error, selector)
      return otherwise()
    }
  }

  /// Asks by `send`, for an `async` requirement with a result that may throw errors of one type. Others are
  /// told to the proxy.
  public nonisolated(nonsending) func askAwaiting<Failure: Error>(
    through proxy: ForwardingProxy, orThrow: Failure.Type,
    _ send: nonisolated(nonsending) (Requirement) async throws -> Result,
    otherwise: () -> Result
  ) async throws(Failure) -> Result {
    do {
      return try await send(self)
    } catch {
      if let error = error as? Failure, !proxy.isUnanswered(error, selector) { throw error }
      proxy.report(unheardOfAwaited: error, selector)
      return otherwise()
    }
  }
}

extension Requirement where Result == Void {
  /// Tells by `send`, for an `async` requirement without a result that cannot throw.
  public nonisolated(nonsending) func tellAwaiting(
    through proxy: ForwardingProxy,
    _ send: nonisolated(nonsending) (Requirement) async throws -> Void
  ) async {
    do {
      try await send(self)
    } catch {
      proxy.report(unheardOfAwaited: error, selector)
    }
  }

  /// Tells by `send`, for an `async` requirement without a result that may throw errors of one type.
  public nonisolated(nonsending) func tellAwaiting<Failure: Error>(
    through proxy: ForwardingProxy, orThrow: Failure.Type,
    _ send: nonisolated(nonsending) (Requirement) async throws -> Void
  ) async throws(Failure) {
    try await askAwaiting(through: proxy, orThrow: orThrow, send) {}
  }
}

extension ForwardingProxy {
  /// Tells of an error as others are told of. Who was cancelled knows it.
  fileprivate func report(unheardOfAwaited error: any Error, _ selector: Selector) {
    if error is CancellationError, Task.isCancelled { return }
    report(unheard: error, selector)
  }
}
