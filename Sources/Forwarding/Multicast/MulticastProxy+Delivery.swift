// SPDX-License-Identifier: Apache-2.0
extension MulticastProxy {
  /// Whether a delivery continues after an answer.
  public enum Step: Sendable {
    /// The delivery continues with the next target.
    case next
    /// The delivery ends; the remaining targets are not called.
    case stop
  }

  /// Delivers an invocation to the targets, and reports the outcome at each. The invocation then
  /// holds the result that ``resultRule`` selects.
  ///
  /// - Throws: an error only if the invocation cannot be delivered. The errors of targets are in
  ///   the report.
  public func deliver(_ invocation: Invocation) throws -> DeliveryReport {
    let stopsAtFirst = endsAtFirst(invocation.returnsValue)
    if !stopsAtFirst, !targetList.stopsAtFirstError, !invocation.returnsValue,
      let report = try reportPlainly(invocation)
    {
      return report
    }
    return try deliver(invocation) { _ in stopsAtFirst ? .stop : .next }
  }

  /// Delivers an invocation, and calls `each` after every answer, while the invocation holds the
  /// result of that target.
  ///
  /// - Throws: the error of `each`, which ends the delivery; earlier errors of targets are then
  ///   diagnostics. An error if the invocation cannot be delivered.
  public func deliver(
    _ invocation: Invocation, each: (Invocation) throws -> Step
  ) throws -> DeliveryReport {
    try deliver(invocation, performing: nil, each: each)
  }

  /// Delivers an invocation. If `visit` is not nil, every target performs it instead of a method of
  /// its own.
  func deliver(
    _ invocation: Invocation, performing visit: Visit?,
    each: (Invocation) throws -> Step
  ) throws -> DeliveryReport {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    // The chain that led to `forward(_:)` already contains a step for the proxy. This step is for
    // the delivery.
    try ForwardingDepth.enter(targetList, invocation.call, selector, for: self)
    defer { ForwardingDepth.leave() }
    let delivery = Delivery(
      proxy: self, invocation: invocation, selector: selector, visit: visit)
    let report = try delivery.run(snapshot, each)
    if visit == nil, report.entries.allSatisfy(\.outcome.isUnasked),
      try answerForTargets(invocation, selector)
    {
      _ = try each(invocation)
    }
    return report
  }

  /// Delivers an invocation without a result, whose report has entries only. Returns nil, without
  /// having sent anything, if the list cannot be delivered to in this way.
  private func reportPlainly(_ invocation: Invocation) throws -> DeliveryReport? {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    let delivery = Delivery(proxy: self, invocation: invocation, selector: selector)
    var report = DeliveryReport()
    report.entries.reserveCapacity(registrationCount)
    var needsAnswer = true
    var metDead = false
    let isDone = try targetList.deliver(invocation.call, of: selector, for: self) {
      id, target, type in
      needsAnswer = false
      report.entries.append(
        DeliveryReport.Entry(
          token: Token(id: id, target: target, type), type: type, outcome: .answered, late: nil))
    } failed: { target, error in
      let outcome = DeliveryOutcome(error)
      if !outcome.isUnasked { needsAnswer = false }
      report.add(target, outcome)
    } turn: { target in
      let turn = delivery.turn(of: target)
      if !turn.outcome.isUnasked { needsAnswer = false }
      if case .dead = turn.outcome { metDead = true }
      report.add(target, turn, hasAnswer: false)
    }
    guard isDone else { return nil }
    if metDead { purge() }
    if needsAnswer {
      try ForwardingDepth.enter(targetList, invocation.call, selector, for: self)
      defer { ForwardingDepth.leave() }
      _ = try answerForTargets(invocation, selector)
    }
    return report
  }

  /// Delivers without building a report; nil if all targets simply answered. It does not allocate
  /// unless a target does.
  func deliverQuietly(_ call: Call) throws -> TargetList.Tally? {
    let tally = try targetList.deliver(
      call, stopsAtFirst: endsAtFirst(call.returnsValue), for: self)
    if let tally { tidy(tally, of: call) }
    return tally
  }

  /// Removes dead targets, and reports the errors after the first, which the sender does not get.
  private func tidy(_ tally: TargetList.Tally, of call: Call) {
    if tally.metDead { purge() }
    diagnose(tally.failures, of: call.selector)
  }

  /// Decides what the sender gets.
  @inline(never)
  func conclude(_ call: Call, _ tally: TargetList.Tally) throws {
    tidy(tally, of: call)
    if let error = tally.error { throw error }
    if tally.answered == 0 { try answerIfNobodyDid(tally, call) }
  }

  /// Whether a message ends at the first target that answers. A message without a result offers no
  /// choice: all targets get it, unless the list asks only one in any case.
  func endsAtFirst(_ hasResult: Bool) -> Bool { targetList.stopsAtFirst(hasResult: hasResult) }

  /// Returns the results of all targets that answer, in order.
  ///
  /// - Throws: the first error of a target, after all were called; the others are diagnostics.
  public func answers<Value>(
    to invocation: Invocation, as type: Value.Type = Value.self
  ) throws -> [Value] {
    let place = TypedPlace(ofAny: type, isResult: true)
    var values: [Value] = []
    let report = try deliver(invocation) { call in
      values.append(try call.call.answer(as: type, place))
      return .next
    }
    try throwFirst(report, of: invocation)
    return values
  }

  /// Combines the results of the targets in order. `combine` may end the delivery.
  ///
  /// - Throws: the error of `combine`, or the first error of a target.
  public func fold<Value, Sum>(
    _ invocation: Invocation, as type: Value.Type = Value.self, into initial: Sum,
    _ combine: (inout Sum, Value) throws -> Step
  ) throws -> Sum {
    let place = TypedPlace(ofAny: type, isResult: true)
    var sum = initial
    let report = try deliver(invocation) { call in
      try combine(&sum, call.call.answer(as: type, place))
    }
    try throwFirst(report, of: invocation)
    return sum
  }

  func throwFirst(_ report: DeliveryReport, of invocation: Invocation) throws {
    guard let error = report.errors.first else { return }
    diagnose(report.failures.dropFirst(), of: invocation.selector)
    throw error
  }
}

extension MulticastProxy: TargetListOwner {
  package func publishTargets() {
    let newcomers = registrations.withLockInPlace { registrations in
      targetList.publish(newest: registrations.lastID)
      return targetList.takeNewcomers()
    }
    newcomers.forEach { $0.meetTarget() }
  }

  package func listTargets() -> [ListedTarget] { snapshot }

  package func tidy(_ tally: TargetList.Tally, of selector: Selector) {
    if tally.metDead { purge() }
    diagnose(tally.failures, of: selector)
  }

  package func answer(_ call: Call, for tally: TargetList.Tally) throws {
    // A target that gets the message later, and whose result is ignored, counts as asked.
    if !tally.hasQueued, let selector = call.selector {
      var result = Swift.Result<Bool, any Error>.success(false)
      call.withInvocation { call in result = Swift.Result { try answerForTargets(call, selector) } }
      if try result.get() { return }
    }
    try answerIfNobodyDid(tally, call)
  }

  package func deliver(
    _ call: Call, to registration: ListedTarget, _ tally: inout TargetList.Tally
  ) {
    if deliverQuickly(call, to: registration, &tally) { return }
    // Handled before the general case, which is slow: many targets may have died at once.
    if !registration.isAlive, !registration.isRemoved, !registration.isBlocked {
      return tally.metDead = true
    }
    guard let selector = call.selector else { return }
    var told = tally
    call.withInvocation { invocation in
      let delivery = Delivery(proxy: self, invocation: invocation, selector: selector)
      let turn = delivery.turn(of: registration)
      let isQuestion = call.returnsValue && wishes(of: registration).lane.leavesQuestions
      told.note(turn, of: registration, for: invocation, leavesQuestions: isQuestion)
    }
    tally = told
  }

  package nonisolated(nonsending) func deliverAwaiting(
    _ invocation: Invocation, to registration: ListedTarget, _ tally: inout TargetList.Tally
  ) async {
    guard let selector = invocation.selector else { return }
    let delivery = Delivery(proxy: self, invocation: invocation, selector: selector)
    let turn = await delivery.turnAwaiting(of: registration)
    tally.note(turn, of: registration, for: invocation, leavesQuestions: false)
  }

  package nonisolated(nonsending) func answerAwaiting(
    _ invocation: Invocation, for tally: TargetList.Tally
  ) async throws {
    if !tally.hasQueued, let selector = invocation.selector,
      try await answerForTargetsAwaiting(invocation, selector)
    {
      return
    }
    try answerIfNobodyDid(tally, invocation.call)
  }
}

extension TargetList.Tally {
  /// Adds the outcome of a target's turn.
  ///
  /// - Parameter leavesQuestions: whether a target that gets the message later counts as not asked.
  fileprivate mutating func note(
    _ turn: Delivery.Turn, of registration: Registration, for invocation: Invocation,
    leavesQuestions: Bool
  ) {
    switch turn.outcome {
    case .answered:
      answered += 1
      if let call = turn.call, call !== invocation { invocation.adoptResult(from: call) }
    case .queued: if !leavesQuestions { hasQueued = true }
    case .dead: metDead = true
    default:
      // A proxy among the targets whose own targets do not answer has not answered either.
      guard let error = turn.outcome.error, !UnansweredMessages.take(invocation.call, error) else {
        break
      }
      fail(error, at: registration)
    }
  }
}
