// Typed messages to many targets, and the ways to get their answers.

extension Message {
  /// Sends the message to all targets, and reports what became of it at each.
  ///
  /// Throws only if the message cannot be delivered. What targets throw is in the report alone.
  public func deliver(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) throws -> DeliveryReport {
    try proxy.deliver(invocation(repeat each arguments))
  }

  /// Sends the message to all targets, and reports what became of it at each, with typed answers.
  ///
  /// Throws only if the message cannot be delivered. What targets throw is in the report alone.
  public func report(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) throws -> TypedReport<Result> {
    let call = try invocation(repeat each arguments)
    return try TypedReport(proxy.deliver(call), empty: emptyAnswer(call))
  }

  /// The one answer that there is to a message without a result.
  func emptyAnswer(_ call: Invocation) throws(InvocationError) -> Result? {
    call.returnsValue ? nil : try call.call.answer(as: Result.self, prepared.result)
  }

  /// The answers of all targets, in order. If some throw, all others are asked first; then the first
  /// error is thrown, and the others are diagnostics.
  ///
  /// ```swift
  /// let heights = try Message<Double>("height").all(on: views)
  /// ```
  public func all(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) throws -> [Result] {
    try proxy.answers(to: invocation(repeat each arguments), as: Result.self)
  }

  /// The first answer, which ends the delivery; nil if nobody answers.
  public func first(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) throws -> Result? {
    try proxy.fold(invocation(repeat each arguments), as: Result.self, into: nil) {
      (first: inout Result?, answer) in
      first = answer
      return .stop
    }
  }

  /// Combines the answers of the targets, from the first on; `combine` may end the delivery.
  public func fold<Sum>(
    _ arguments: repeat each Argument, on proxy: MulticastProxy, into initial: Sum,
    _ combine: (inout Sum, Result) throws -> MulticastProxy.Step
  ) throws -> Sum {
    try proxy.fold(
      invocation(repeat each arguments), as: Result.self, into: initial, combine)
  }

  /// The answer or the error of each target that knows the message, in order.
  public func gather(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) throws -> [Swift.Result<Result, any Error>] {
    let call = try invocation(repeat each arguments)
    let report = try proxy.deliver(call) { _ in .next }
    return report.entries.compactMap { entry in
      if let error = entry.outcome.error { return .failure(error) }
      guard entry.outcome.isAnswer else { return nil }
      guard call.returnsValue else { return Swift.Result { try emptyAnswer(call)! } }
      return entry.answer.map { answer in Swift.Result { try answer.value(as: Result.self) } }
    }
  }
}
