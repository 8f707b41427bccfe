// SPDX-License-Identifier: Apache-2.0
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
    try prepared.all((repeat each arguments), as: selector, on: proxy)
  }

  /// Returns the first answer, which ends the delivery; nil if no target answers.
  ///
  /// - Throws: The first error of a target that was asked before.
  @inlinable
  public func first(
    _ arguments: repeat each Argument, on proxy: MulticastProxy
  ) throws -> Result? {
    try prepared.first((repeat each arguments), as: selector, on: proxy)
  }

  /// Combines the answers of the targets, from the first on; `combine` may end the delivery.
  ///
  /// - Throws: The error of `combine`, or else the first error of a target.
  @inlinable
  public func fold<Sum>(
    _ arguments: repeat each Argument, on proxy: MulticastProxy, into initial: Sum,
    _ combine: (inout Sum, Result) throws -> MulticastProxy.Step
  ) throws -> Sum {
    try prepared.fold((repeat each arguments), as: selector, on: proxy, into: initial, combine)
  }
}

// The ways to get many answers, for messages and for the requirements of faces. The arguments are made a tuple each time
// they are handed over: the compiler fails at a tuple of a pack that is passed on as it is.
extension PreparedMessage {
  @inlinable
  @inline(__always)
  func ask<Answer, each Argument>(
    _ arguments: (repeat each Argument), as selector: Selector, on proxy: MulticastProxy,
    _ each: (Answer) throws -> MulticastProxy.Step
  ) throws {
    try withCall(tuple: (repeat each arguments), as: selector) { call in
      try proxy.ask(call, selector) { call in
        try each(call.takeFittingAnswer(as: Answer.self, result))
      }
    }
  }

  @inlinable
  @inline(__always)
  func all<Answer, each Argument>(
    _ arguments: (repeat each Argument), as selector: Selector, on proxy: MulticastProxy
  ) throws -> [Answer] {
    var answers: [Answer] = []
    try ask((repeat each arguments), as: selector, on: proxy) { (answer: Answer) in
      // One allocation for the answers of few targets, instead of one for each doubling.
      if answers.isEmpty { answers.reserveCapacity(4) }
      answers.append(answer)
      return .next
    }
    return answers
  }

  @inlinable
  @inline(__always)
  func first<Answer, each Argument>(
    _ arguments: (repeat each Argument), as selector: Selector, on proxy: MulticastProxy
  ) throws -> Answer? {
    var first: Answer?
    try ask((repeat each arguments), as: selector, on: proxy) { (answer: Answer) in
      first = answer
      return .stop
    }
    return first
  }

  @inlinable
  @inline(__always)
  func fold<Answer, Sum, each Argument>(
    _ arguments: (repeat each Argument), as selector: Selector, on proxy: MulticastProxy,
    into initial: Sum, _ combine: (inout Sum, Answer) throws -> MulticastProxy.Step
  ) throws -> Sum {
    var sum = initial
    try ask((repeat each arguments), as: selector, on: proxy) { (answer: Answer) in
      try combine(&sum, answer)
    }
    return sum
  }
}
