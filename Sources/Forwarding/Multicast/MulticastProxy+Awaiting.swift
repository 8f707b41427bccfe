// SPDX-License-Identifier: Apache-2.0
// Deliveries that are awaited, and their results.
extension MulticastProxy {
  /// The outcome of a delivery that was awaited.
  struct Awaited {
    let report: DeliveryReport<Invocation>
    /// Whether a target, a fallback or a default value answered.
    let isAnswered: Bool
  }

  /// Delivers an invocation to the targets, awaits them, and calls `each` while the invocation has
  /// the answer of one.
  nonisolated(nonsending) func deliverAwaiting(
    _ invocation: Invocation, concurrently: Bool, stopsAtFirst: Bool,
    each: (Invocation) throws -> Void
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
        concurrently
        ? try await delivery.runConcurrently(snapshot, stopsAtFirst: stopsAtFirst, each)
        : try await delivery.runAwaiting(snapshot, stopsAtFirst: stopsAtFirst, each)
      return Awaited(report: report, isAnswered: report.answered > 0)
    }
  }

  /// Delivers an invocation, and decides what the sender gets.
  nonisolated(nonsending) func sendAwaiting(
    _ invocation: Invocation, concurrently: Bool
  ) async throws {
    let awaited = try await deliverAwaiting(
      invocation, concurrently: concurrently,
      stopsAtFirst: targetList.stopsAtFirst(hasResult: invocation.returnsValue)
    ) { _ in }
    try throwFirstAwaited(awaited.report, of: invocation)
    guard !awaited.isAnswered, let selector = invocation.selector else { return }
    var tally = TargetList.Tally()
    tally.hasQueued = awaited.report.queued > 0
    try conclude(invocation.call, selector, tally)
  }

  /// Throws the first error, or `CancellationError` if the delivery was cancelled before its end.
  func throwFirstAwaited(_ report: DeliveryReport<Invocation>, of invocation: Invocation) throws {
    try throwFirst(report, of: invocation)
    if report.isCancelled { throw CancellationError() }
  }
}
