extension MulticastProxy {
  /// Whether a delivery goes on after an answer.
  public enum Step: Sendable {
    /// To the next target.
    case next
    /// It ends; the other targets are not called.
    case stop
  }

  /// Delivers an invocation to the targets and reports what became of it at each.
  ///
  /// When this returns, the invocation has the result that ``resultRule`` selects. Throws only if
  /// the invocation cannot be delivered. What targets throw is in the report alone.
  public func deliver(_ invocation: Invocation) throws -> DeliveryReport {
    let stopsAtFirst = endsAtFirst(invocation.returnsValue)
    if !stopsAtFirst, !invocation.returnsValue, let report = try reportPlainly(invocation) {
      return report
    }
    return try deliver(invocation) { _ in stopsAtFirst ? .stop : .next }
  }

  /// Delivers an invocation and calls `each` after every answer, while the invocation has its
  /// result. An error of `each` ends the delivery and is thrown; what targets threw before is a
  /// diagnostic.
  public func deliver(
    _ invocation: Invocation, each: (Invocation) throws -> Step
  ) throws -> DeliveryReport {
    try deliver(invocation, performing: nil, each: each)
  }

  /// Delivers an invocation like the method above; every target performs `visit` in place of a
  /// method of its own.
  func deliver(
    _ invocation: Invocation, performing visit: Visit?,
    each: (Invocation) throws -> Step
  ) throws -> DeliveryReport {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    // The chain that led to `forward(_:)` holds a step for the proxy itself already; this is one
    // for the delivery.
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

  /// Delivers what has no result: entries are all that there is to keep. Nil if that cannot be done here, and
  /// nothing was sent.
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
          token: Token(id: id, target: target), type: type, outcome: .answered, late: nil))
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

  /// Delivers without building a report; nil if all targets simply answered. Allocates nothing unless a
  /// target does.
  func deliverQuietly(_ call: Call) throws -> TargetList.Tally? {
    let tally = try targetList.deliver(
      call, stopsAtFirst: endsAtFirst(call.returnsValue), for: self)
    if let tally { tidy(tally, of: call) }
    return tally
  }

  /// Does what no sender sees: removes the dead, and tells of later errors.
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

  /// Whether a message ends at the first target that answers. One without a result has nothing to choose from:
  /// all are told, unless one is asked in any case.
  func endsAtFirst(_ hasResult: Bool) -> Bool { targetList.stopsAtFirst(hasResult: hasResult) }

  /// Decides what the sender gets where no target has answered.
  func answerIfNobodyDid(_ tally: TargetList.Tally, _ call: Call) throws {
    guard tally.answered == 0 else { return }
    if tally.hasQueued {
      // On their way, for targets whose result is ignored.
      if call.returnsValue { call.answerWithZero() }
      return
    }
    let selector = call.selector
    let rule = whenNobodyAnswers
    let isError = rule == .throw || rule == .throwForResults && call.returnsValue
    if let selector { diagnoseUnanswered(selector, isError: isError) }
    if isError {
      UnansweredMessages.note(call)
      throw ForwardingError.nobodyAnswered(selector)
    }
    if rule == .zero { call.answerWithZero() }
  }

  /// The results of all targets that answer, in order.
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

  /// Combines the results of the targets, from the first on; `combine` may end the delivery.
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
    // A target that gets the message later, and whose result is ignored, was asked.
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
    // Many may have died at once, and what follows takes long.
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
  /// Takes over what a target did.
  ///
  /// - Parameter leavesQuestions: whether a target that gets the message later was not asked.
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
      // A proxy that finds nobody has not answered.
      guard let error = turn.outcome.error, !UnansweredMessages.take(invocation.call, error) else {
        break
      }
      fail(error, at: registration)
    }
  }
}
