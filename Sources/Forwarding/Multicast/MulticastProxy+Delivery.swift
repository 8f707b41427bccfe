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
    let stopsAtFirst = resultRule == .first
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
    return try delivery.run(snapshot, each)
  }

  /// Delivers without building a report. Allocates nothing unless a target does.
  func deliverQuietly(_ call: Call) throws -> TargetList.Tally {
    let tally = try targetList.deliver(call, stopsAtFirst: resultRule == .first, for: self)
    if tally.metDead { purge() }
    diagnose(tally.failures, of: call.selector)
    return tally
  }

  /// The results of all targets that answer, in order.
  public func answers<Value: CallValue>(
    to invocation: Invocation, as type: Value.Type = Value.self
  ) throws -> [Value] {
    var values: [Value] = []
    let report = try deliver(invocation) { call in
      values.append(try call.result(as: type))
      return .next
    }
    try throwFirst(report, of: invocation)
    return values
  }

  /// Combines the results of the targets, from the first on; `combine` may end the delivery.
  public func fold<Value: CallValue, Sum>(
    _ invocation: Invocation, as type: Value.Type = Value.self, into initial: Sum,
    _ combine: (inout Sum, Value) throws -> Step
  ) throws -> Sum {
    var sum = initial
    let report = try deliver(invocation) { call in try combine(&sum, call.result(as: type)) }
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
    withMembers { targetList.publish($0, \.listed) }
    meetTargets(snapshot)
  }

  package func conclude(_ call: Call, _ tally: TargetList.Tally) throws {
    if tally.metDead { purge() }
    diagnose(tally.failures, of: call.selector)
    if let error = tally.error { throw error }
    if tally.answered == 0 { try answerIfNobodyDid(tally, call) }
  }

  package func deliverToEach(
    _ call: Call, stopsAtFirst: Bool, _ tally: inout TargetList.Tally
  ) {
    for member in snapshot where !stopsAtFirst || tally.answered == 0 {
      deliver(call, to: member, &tally)
    }
  }

  package func deliver(_ call: Call, to member: AnyObject, _ tally: inout TargetList.Tally) {
    guard let member = member as? MulticastMember, let selector = call.selector else { return }
    var told = tally
    call.withInvocation { invocation in
      let delivery = Delivery(proxy: self, invocation: invocation, selector: selector)
      let turn = delivery.turn(of: member)
      switch turn.outcome {
      case .answered:
        told.answered += 1
        if let call = turn.call, call !== invocation { invocation.takeResult(from: call) }
      case .queued: told.queued += 1
      case .dead: told.metDead = true
      default:
        if let error = turn.outcome.error { told.fail(error, at: member) }
      }
    }
    tally = told
  }
}
