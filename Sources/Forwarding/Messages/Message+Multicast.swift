// SPDX-License-Identifier: Apache-2.0
public import Invocations

// Typed messages to many targets, and the ways to collect their answers. The functions with a
// parameter `concurrently` await each target.

extension Message {
  /// Sends the message to all targets, and reports the outcome at each.
  ///
  /// - Throws: an error only if the message cannot be delivered. The errors of targets are in the
  ///   report.
  public func report(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) throws -> DeliveryReport<Result> {
    try proxy.report(invocation(repeat each arguments)) {
      try $0.answer(as: Result.self, prepared.result)
    }
  }

  /// Returns the answers of all targets, in order.
  ///
  /// ```swift
  /// let heights = try Message<Double>("height").all(on: views)
  /// ```
  ///
  /// - Throws: The first error of a target, when all others were asked; later ones are diagnostics.
  @inlinable
  public func all(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) throws -> [Result] {
    var answers: [Result] = []
    try ask((repeat each arguments), on: proxy, stopsAtFirst: false) { answer in
      // One allocation for the answers of few targets, instead of one for each doubling.
      if answers.isEmpty { answers.reserveCapacity(4) }
      answers.append(answer)
    }
    return answers
  }

  /// Returns the first answer, which ends the delivery; nil if no target answers.
  ///
  /// - Throws: The first error of a target that was asked before.
  @inlinable
  public func first(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) throws -> Result? {
    var first: Result?
    try ask((repeat each arguments), on: proxy, stopsAtFirst: true) { first = $0 }
    return first
  }

  /// Calls `each` with the answer of each target, or with the first.
  ///
  /// The arguments are made a tuple each time they are handed over: the compiler fails at a tuple of
  /// a pack that is passed on as it is.
  @inlinable
  @inline(__always)
  func ask(
    _ arguments: (repeat each Argument), on proxy: MulticastProxy, stopsAtFirst: Bool,
    _ each: (Result) throws -> Void
  ) throws {
    let result = prepared.result
    try prepared.withCall(tuple: (repeat each arguments), as: selector) { call in
      try proxy.ask(call, selector, stopsAtFirst: stopsAtFirst) { call in
        try each(call.takeFittingAnswer(as: Result.self, result))
      }
    }
  }
}

// Concurrent targets may run on several threads, so all values are Sendable.
extension Message where Result: Sendable, repeat each Argument: Sendable {
  /// Sends the message to all targets of a proxy, awaits them, and returns the answer that the
  /// proxy's result rule selects.
  ///
  /// - Parameter concurrently: whether all targets get the message at once, and then all are
  ///   awaited; if false, each gets it when the one before has ended.
  /// - Throws: the first error of a target, a ``ForwardingError`` if no target answers, or
  ///   `CancellationError` if the task is cancelled before all targets were called.
  @discardableResult
  public nonisolated(nonsending) func callAsFunction(
    _ arguments: repeat each Argument, on proxy: MulticastProxy, concurrently: Bool
  ) async throws -> Result {
    let call = try invocation(repeat each arguments)
    try await proxy.sendAwaiting(call, concurrently: concurrently)
    return try call.call.answer(as: Result.self, prepared.result)
  }

  /// Sends the message to all targets, awaits them, and reports the outcome at each.
  ///
  /// - Throws: an error only if the message cannot be delivered. The errors of targets are in the
  ///   report.
  public nonisolated(nonsending) func report(
    _ arguments: repeat each Argument, on proxy: MulticastProxy, concurrently: Bool
  ) async throws -> DeliveryReport<Result> {
    try await proxy.reportAwaiting(
      invocation(repeat each arguments), concurrently: concurrently
    ) { try $0.answer(as: Result.self, prepared.result) }
  }

  /// Returns the answers of all targets that are awaited, in the order of the targets.
  ///
  /// - Throws: the first error of a target, after all targets were called; the other errors are
  ///   diagnostics. `CancellationError` if the task is cancelled before all targets were called.
  public nonisolated(nonsending) func all(
    _ arguments: repeat each Argument, on proxy: MulticastProxy, concurrently: Bool
  ) async throws -> [Result] {
    try await answers(
      invocation(repeat each arguments), proxy, concurrently: concurrently, stopsAtFirst: false)
  }

  /// Returns the first answer of targets that are awaited, and ends the delivery with it; nil if no
  /// target answers. A concurrent delivery cancels the calls of the other targets.
  ///
  /// - Throws: the first error of a target, or `CancellationError` if the task is cancelled before.
  public nonisolated(nonsending) func first(
    _ arguments: repeat each Argument, on proxy: MulticastProxy, concurrently: Bool
  ) async throws -> Result? {
    try await answers(
      invocation(repeat each arguments), proxy, concurrently: concurrently, stopsAtFirst: true
    ).first
  }

  private nonisolated(nonsending) func answers(
    _ call: Invocation, _ proxy: MulticastProxy, concurrently: Bool, stopsAtFirst: Bool
  ) async throws -> [Result] {
    var values: [Result] = []
    try await proxy.askAwaiting(
      call, concurrently: concurrently, stopsAtFirst: stopsAtFirst
    ) { call in
      values.append(try call.call.answer(as: Result.self, prepared.result))
    }
    return values
  }
}
