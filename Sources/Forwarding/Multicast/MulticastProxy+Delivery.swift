// SPDX-License-Identifier: Apache-2.0
extension MulticastProxy {
  /// Delivers an invocation to the targets, and reports the outcome at each. The invocation then
  /// holds the result that ``resultRule`` selects.
  ///
  /// - Throws: an error only if the invocation cannot be delivered. The errors of targets are in
  ///   the report.
  public func deliver(_ invocation: Invocation) throws -> DeliveryReport<Invocation> {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    let call = invocation.call
    let stopsAtFirst = targetList.stopsAtFirst(hasResult: call.returnsValue)
    let stopsAtQueue = targetList.stopsAtFirst(hasResult: false)
    let endsAtError = targetList.stopsAtFirstError
    var report = DeliveryReport<Invocation>()
    report.entries.reserveCapacity(registrationCount)
    try deliver(call, selector, listsAll: true) { registration, turn in
      var turn = turn
      if turn.outcome.isAnswer, call.returnsValue { turn.call = call.copiedAnswer() }
      report.add(token(of: registration), turn, hasAnswer: call.returnsValue)
      if stopsAtQueue, case .queued = turn.outcome { return false }
      return !(stopsAtFirst && turn.outcome.isAnswer) && !(endsAtError && turn.outcome.error != nil)
    }
    return report
  }

  /// Sends a call to the targets in order, and calls `each` with what became of each turn, while the
  /// call has the answer. `each` returns whether the next target has its turn.
  ///
  /// - Throws: the error of `each`, which ends the delivery, or what keeps the call from being
  ///   delivered.
  func deliver(
    _ call: Call, _ selector: Selector, listsAll: Bool = false,
    _ each: (Registration, Delivery.Turn) throws -> Bool
  ) throws {
    var refusal: (any Error)?
    var metDead = false
    try targetList.deliver(call, of: selector, for: self, listsAll: listsAll) { listed in
      let registration = listed.member
      let turn =
        switch listed.outcome {
        case .answered: Delivery.Turn(outcome: .answered)
        case .failed(let error): Delivery.Turn(outcome: DeliveryOutcome(error))
        case .unknown: deliver(call, selector, to: registration)
        case .skipped: Delivery.Turn(outcome: .notCalled)
        }
      if case .dead = turn.outcome { metDead = true }
      do { return try each(registration, turn) } catch { refusal = error }
      return false
    }
    if metDead { purge() }
    if let refusal { throw refusal }
  }

  /// Asks the targets in order, and calls `each` while the call has an answer, until it returns
  /// false.
  ///
  /// - Throws: The error of `each`, which ends the delivery; or else the first error of a target, when all others were
  ///   asked. Errors of targets that are not thrown are diagnostics.
  @usableFromInline
  func ask(_ call: Call, _ selector: Selector, _ each: (Call) throws -> Bool) throws {
    let endsAtError = targetList.stopsAtFirstError
    var failures: [DeliveryFailure] = []
    do {
      try deliver(call, selector) { registration, turn in
        if turn.outcome.isAnswer { return try each(call) }
        guard let error = turn.outcome.error else { return true }
        failures.append(DeliveryFailure(token: token(of: registration), error: error))
        return !endsAtError
      }
    } catch {
      diagnose(failures, of: selector)
      throw error
    }
    guard let first = failures.first else { return }
    diagnose(failures.dropFirst(), of: selector)
    throw first.error
  }

  /// Returns the results of all targets that answer, in order.
  ///
  /// - Throws: the first error of a target, after all were called; the others are diagnostics.
  public func answers<Value>(
    to invocation: Invocation, as type: Value.Type = Value.self
  ) throws -> [Value] {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    let place = TypedPlace(ofAny: type, isResult: true)
    var values: [Value] = []
    try ask(invocation.call, selector) { call in
      if values.isEmpty { values.reserveCapacity(4) }
      values.append(try call.answer(as: type, place))
      return true
    }
    return values
  }

  func throwFirst(_ report: DeliveryReport<Invocation>, of invocation: Invocation) throws {
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

  package func deliver(
    _ call: Call, to registration: ListedTarget, _ tally: inout TargetList.Tally
  ) {
    if deliverQuickly(call, to: registration, &tally) { return }
    guard let selector = call.selector else { return }
    let turn = deliver(call, selector, to: registration)
    let isQuestion = call.returnsValue && wishes(of: registration).lane.leavesQuestions
    if isQuestion, case .queued = turn.outcome {
      tellListener(.tooLate(token(of: registration), selector))
    }
    tally.note(turn, of: registration, leavesQuestions: isQuestion)
  }

  /// Sends a call to a target that is not simply called. The call then has the answer.
  private func deliver(
    _ call: Call, _ selector: Selector, to registration: Registration
  ) -> Delivery.Turn {
    // Handled before the general case, which is slow: many targets may have died at once.
    if !registration.isAlive, !registration.isRemoved, !registration.isBlocked {
      return Delivery.Turn(outcome: .dead)
    }
    var turn = Delivery.Turn(outcome: .dead)
    call.withInvocation { invocation in
      let delivery = Delivery(proxy: self, invocation: invocation, selector: selector)
      turn = delivery.turn(of: registration)
      if turn.outcome.isAnswer, let answering = turn.call, answering !== invocation {
        invocation.adoptResult(from: answering)
      }
    }
    return turn
  }

  package nonisolated(nonsending) func deliverAwaiting(
    _ invocation: Invocation, to registration: ListedTarget, _ tally: inout TargetList.Tally
  ) async {
    guard let selector = invocation.selector else { return }
    let delivery = Delivery(proxy: self, invocation: invocation, selector: selector)
    let turn = await delivery.turnAwaiting(of: registration)
    if turn.outcome.isAnswer, let answering = turn.call, answering !== invocation {
      invocation.adoptResult(from: answering)
    }
    tally.note(turn, of: registration, leavesQuestions: false)
  }
}

extension TargetList.Tally {
  /// Adds the outcome of a target's turn.
  ///
  /// - Parameter leavesQuestions: whether a target that gets the message later counts as not asked.
  fileprivate mutating func note(
    _ turn: Delivery.Turn, of registration: Registration, leavesQuestions: Bool
  ) {
    switch turn.outcome {
    case .answered: answered += 1
    case .queued: if !leavesQuestions { hasQueued = true }
    case .dead: metDead = true
    default: if let error = turn.outcome.error { fail(error, at: registration) }
    }
  }
}
