// SPDX-License-Identifier: Apache-2.0
// Deliveries that are awaited, and their results.
extension MulticastProxy {
  /// Delivers an invocation to the targets, awaits their answers, and reports the outcome at each.
  /// The invocation then holds the result that ``resultRule`` selects.
  ///
  /// - Throws: an error only if the invocation cannot be delivered. The errors of targets are in
  ///   the report.
  public nonisolated(nonsending) func deliverAwaiting(
    _ invocation: Invocation
  ) async throws -> DeliveryReport {
    let stopsAtFirst = targetList.stopsAtFirst(hasResult: invocation.returnsValue)
    return try await deliverAwaiting(invocation, .sequential, stopsAtFirst: stopsAtFirst) { _ in
      stopsAtFirst ? .stop : .next
    }.report
  }

  /// The outcome of a delivery that was awaited.
  struct Awaited {
    let report: DeliveryReport
    /// Whether a target, a fallback or a default value answered.
    let isAnswered: Bool
  }

  nonisolated(nonsending) func deliverAwaiting(
    _ invocation: Invocation, _ mode: AwaitedDelivery, stopsAtFirst: Bool,
    each: (Invocation) throws -> Step
  ) async throws -> Awaited {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    return try await AwaitedStep.take(
      through: targetList, invocation.call, selector, for: type(of: self)
    ) {
      let delivery = Delivery(proxy: self, invocation: invocation, selector: selector)
      let snapshot = registrations.withLockInPlace {
        targetList.beginAwaited(newest: $0.lastID)
        return targetList.all
      }
      defer { targetList.endAwaited() }
      let report =
        switch mode {
        case .sequential: try await delivery.runAwaiting(snapshot, each)
        case .concurrent:
          try await delivery.runConcurrently(snapshot, stopsAtFirst: stopsAtFirst, each)
        }
      // A target that failed, or gets the message later, counts as asked.
      if report.answered == 0, report.queued == 0, report.errors.isEmpty, !report.isCancelled,
        try await answerForTargetsAwaiting(invocation, selector)
      {
        _ = try each(invocation)
        return Awaited(report: report, isAnswered: true)
      }
      return Awaited(report: report, isAnswered: report.answered > 0)
    }
  }

  /// Delivers an invocation, and decides what the sender gets.
  nonisolated(nonsending) func sendAwaiting(
    _ invocation: Invocation, _ mode: AwaitedDelivery
  ) async throws {
    let stopsAtFirst = targetList.stopsAtFirst(hasResult: invocation.returnsValue)
    let awaited = try await deliverAwaiting(invocation, mode, stopsAtFirst: stopsAtFirst) { _ in
      stopsAtFirst ? .stop : .next
    }
    try throwFirstAwaited(awaited.report, of: invocation)
    guard !awaited.isAnswered, let selector = invocation.selector else { return }
    var tally = TargetList.Tally()
    tally.hasQueued = awaited.report.queued > 0
    try conclude(invocation.call, selector, tally)
  }

  /// Throws the first error, or `CancellationError` if the delivery was cancelled before its end.
  func throwFirstAwaited(_ report: DeliveryReport, of invocation: Invocation) throws {
    try throwFirst(report, of: invocation)
    if report.isCancelled { throw CancellationError() }
  }
}
