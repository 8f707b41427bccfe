// SPDX-License-Identifier: Apache-2.0
// Messages that are awaited at many targets, and the ways to collect their answers. A concurrent
// delivery may run targets on several threads, so it requires that all values are Sendable.

extension AsyncMessage {
  /// Sends the message to all targets, awaits each, and reports the outcomes, with typed answers.
  ///
  /// - Throws: an error only if the message cannot be delivered. The errors of targets are in the
  ///   report.
  public nonisolated(nonsending) func report(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) async throws -> TypedReport<Result> {
    try await report(message.invocation(repeat each arguments), proxy, .sequential)
  }

  /// Returns the answers of all targets, in order.
  ///
  /// - Throws: the first error of a target, after all targets were called; the other errors are
  ///   diagnostics. `CancellationError` if the task is cancelled before all targets were called.
  public nonisolated(nonsending) func all(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) async throws -> [Result] {
    try await all(message.invocation(repeat each arguments), proxy, .sequential)
  }

  /// Returns the first answer, and ends the delivery with it; nil if no target answers.
  ///
  /// - Throws: the first error of a target before it, or `CancellationError`.
  public nonisolated(nonsending) func first(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) async throws -> Result? {
    try await first(message.invocation(repeat each arguments), proxy, .sequential)
  }
}

extension AsyncMessage where Result: Sendable, repeat each Argument: Sendable {
  /// Sends the message to all targets of a proxy, and returns the answer that the proxy's result
  /// rule selects.
  ///
  /// - Throws: the first error of a target, a ``ForwardingError`` if no target answers, or
  ///   `CancellationError` if the task is cancelled before all targets were called.
  @discardableResult
  public nonisolated(nonsending) func callAsFunction(
    _ arguments: repeat each Argument, on proxy: MulticastProxy, delivery: AwaitedDelivery
  ) async throws -> Result {
    let call = try message.invocation(repeat each arguments)
    try await proxy.sendAwaiting(call, delivery)
    return try call.call.answer(as: Result.self, message.prepared.result)
  }

  /// Sends the message to all targets, and reports the outcome at each, with typed answers.
  ///
  /// - Throws: an error only if the message cannot be delivered. The errors of targets are in the
  ///   report.
  public nonisolated(nonsending) func report(
    _ arguments: repeat each Argument, on proxy: MulticastProxy, delivery: AwaitedDelivery
  ) async throws -> TypedReport<Result> {
    try await report(message.invocation(repeat each arguments), proxy, delivery)
  }

  /// Returns the answers of all targets, in the order of the targets.
  ///
  /// - Throws: the first error of a target, or `CancellationError` if the task is cancelled before
  ///   all targets were called.
  public nonisolated(nonsending) func all(
    _ arguments: repeat each Argument, on proxy: MulticastProxy, delivery: AwaitedDelivery
  ) async throws -> [Result] {
    try await all(message.invocation(repeat each arguments), proxy, delivery)
  }

  /// Returns the first answer, and cancels the calls of the other targets; nil if no target
  /// answers.
  ///
  /// - Throws: the first error of a target, or `CancellationError` if the task is cancelled before.
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
