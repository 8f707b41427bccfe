// Messages to many targets that are awaited, and the ways to get their answers. All at once they go to
// threads of their own, so all that they carry is Sendable then.

extension AsyncMessage {
  /// Sends the message to all targets, awaits each, and reports what became of it, with typed answers.
  ///
  /// Throws only if the message cannot be delivered. What targets throw is in the report alone.
  public nonisolated(nonsending) func report(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) async throws -> TypedReport<Result> {
    try await report(message.invocation(repeat each arguments), proxy, .sequential)
  }

  /// The answers of all targets, in order. If some throw, all others are asked first; then the first error
  /// is thrown, and the others are diagnostics.
  public nonisolated(nonsending) func all(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) async throws -> [Result] {
    try await all(message.invocation(repeat each arguments), proxy, .sequential)
  }

  /// The first answer, which ends the delivery; nil if nobody answers.
  public nonisolated(nonsending) func first(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) async throws -> Result? {
    try await first(message.invocation(repeat each arguments), proxy, .sequential)
  }
}

extension AsyncMessage where Result: Sendable, repeat each Argument: Sendable {
  /// Sends the message to all targets of a proxy, and awaits the answer that counts.
  @discardableResult
  public nonisolated(nonsending) func callAsFunction(
    _ arguments: repeat each Argument, on proxy: MulticastProxy, delivery: AwaitedDelivery
  ) async throws -> Result {
    let call = try message.invocation(repeat each arguments)
    try await proxy.sendAwaiting(call, delivery)
    return try call.call.answer(as: Result.self, message.prepared.result)
  }

  /// Sends the message to all targets, and reports what became of it at each, with typed answers.
  public nonisolated(nonsending) func report(
    _ arguments: repeat each Argument, on proxy: MulticastProxy, delivery: AwaitedDelivery
  ) async throws -> TypedReport<Result> {
    try await report(message.invocation(repeat each arguments), proxy, delivery)
  }

  /// The answers of all targets, in the order of the targets.
  public nonisolated(nonsending) func all(
    _ arguments: repeat each Argument, on proxy: MulticastProxy, delivery: AwaitedDelivery
  ) async throws -> [Result] {
    try await all(message.invocation(repeat each arguments), proxy, delivery)
  }

  /// The first answer that there is; nil if nobody answers. The other targets are cancelled.
  public nonisolated(nonsending) func first(
    _ arguments: repeat each Argument, on proxy: MulticastProxy, delivery: AwaitedDelivery
  ) async throws -> Result? {
    try await first(message.invocation(repeat each arguments), proxy, delivery)
  }
}

extension AsyncMessage {
  private nonisolated(nonsending) func report(
    _ call: Invocation, _ proxy: MulticastProxy, _ delivery: AwaitedDelivery
  ) async throws -> TypedReport<Result> {
    let stopsAtFirst = proxy.resultRule == .first
    let awaited = try await proxy.deliverAwaiting(call, delivery, stopsAtFirst: stopsAtFirst) { _ in
      stopsAtFirst ? .stop : .next
    }
    return try TypedReport(awaited.report, empty: message.emptyAnswer(call))
  }

  private nonisolated(nonsending) func all(
    _ call: Invocation, _ proxy: MulticastProxy, _ delivery: AwaitedDelivery
  ) async throws -> [Result] {
    var values: [Result] = []
    let awaited = try await proxy.deliverAwaiting(call, delivery, stopsAtFirst: false) { call in
      values.append(try call.call.answer(as: Result.self, message.prepared.result))
      return .next
    }
    try proxy.throwFirstAwaited(awaited.report, of: call)
    return values
  }

  private nonisolated(nonsending) func first(
    _ call: Invocation, _ proxy: MulticastProxy, _ delivery: AwaitedDelivery
  ) async throws -> Result? {
    var first: Result?
    let awaited = try await proxy.deliverAwaiting(call, delivery, stopsAtFirst: true) { call in
      first = try call.call.answer(as: Result.self, message.prepared.result)
      return .stop
    }
    try proxy.throwFirstAwaited(awaited.report, of: call)
    return first
  }
}
