// Typed messages to many targets, and the ways to collect their answers.

extension Message {
  /// Sends the message to all targets, and reports the outcome at each.
  ///
  /// - Throws: an error only if the message cannot be delivered. The errors of targets are in the
  ///   report.
  public func deliver(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) throws -> DeliveryReport {
    try proxy.deliver(invocation(repeat each arguments))
  }

  /// Sends the message to all targets, and reports the outcome at each, with typed answers.
  ///
  /// - Throws: an error only if the message cannot be delivered. The errors of targets are in the
  ///   report.
  public func report(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) throws -> TypedReport<Result> {
    let call = try invocation(repeat each arguments)
    return try TypedReport(proxy.deliver(call), empty: emptyAnswer(call))
  }

  /// The only possible answer to a message without a result; nil for a message with a result.
  func emptyAnswer(_ call: Invocation) throws(InvocationError) -> Result? {
    call.returnsValue ? nil : try call.call.answer(as: Result.self, prepared.result)
  }

  /// Returns the answers of all targets, in order. If some targets throw, all others are called
  /// first.
  ///
  /// ```swift
  /// let heights = try Message<Double>("height").all(on: views)
  /// ```
  ///
  /// - Throws: the first error of a target; the other errors are diagnostics.
  public func all(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) throws -> [Result] {
    try proxy.answers(to: invocation(repeat each arguments), as: Result.self)
  }

  /// Returns the first answer, and ends the delivery with it; nil if no target answers.
  ///
  /// - Throws: the first error of a target before it.
  public func first(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) throws -> Result? {
    try proxy.fold(invocation(repeat each arguments), as: Result.self, into: nil) {
      (first: inout Result?, answer) in
      first = answer
      return .stop
    }
  }

  /// Combines the answers of the targets in order. `combine` may end the delivery.
  ///
  /// - Throws: the error of `combine`, or the first error of a target.
  public func fold<Sum>(
    _ arguments: repeat each Argument, on proxy: MulticastProxy, into initial: Sum,
    _ combine: (inout Sum, Result) throws -> MulticastProxy.Step
  ) throws -> Sum {
    try proxy.fold(
      invocation(repeat each arguments), as: Result.self, into: initial, combine)
  }

  /// Returns the answer or the error of each target that has a method for the message, in order.
  ///
  /// - Throws: an error only if the message cannot be delivered.
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
