// SPDX-License-Identifier: Apache-2.0
public import Invocations

// Deliveries of messages: to all targets at once on the sender's thread, or awaited.
extension MulticastProxy {
  /// Delivers an invocation to the targets, and reports the outcome at each. The invocation then
  /// holds the result that ``resultRule`` selects.
  ///
  /// - Throws: an error only if the invocation cannot be delivered. The errors of targets are in
  ///   the report.
  public func deliver(_ invocation: Invocation) throws -> DeliveryReport<Invocation> {
    try report(invocation) { $0.returnsValue ? $0.copiedAnswer() : nil }
  }

  /// Delivers an invocation, and reports the outcome at each target, with what `answer` takes from the
  /// call while it has the answer of one.
  func report<Answer>(
    _ invocation: Invocation, _ answer: (Call) throws -> Answer?
  ) throws -> DeliveryReport<Answer> {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    let call = invocation.call
    var report = DeliveryReport<Answer>()
    report.entries.reserveCapacity(registrationCount)
    _ = try deliver(
      call, selector, targetList.ends(hasResult: call.returnsValue), listsAll: true
    ) { registration, turn in
      report.add(turn, token(of: registration)) { try answer(call) }
    }
    if let error = report.unread { throw error }
    return report
  }

  /// Sends a call to the targets in order, and calls `each` with what became of each turn, while the
  /// call has the answer.
  ///
  /// - Throws: the error of `each`, which ends the delivery, or what keeps the call from being
  ///   delivered.
  private func deliver(
    _ call: Call, _ selector: Selector, _ ends: DeliveryEnds, listsAll: Bool = false,
    _ each: (Registration, Delivery.Turn) throws -> Void
  ) throws -> TargetList.Tally {
    var tally = TargetList.Tally()
    var refusal: (any Error)?
    try targetList.deliver(call, of: selector, for: self, listsAll: listsAll) { listed in
      let registration = listed.member
      let turn =
        switch listed.outcome {
        case .answered: Delivery.Turn(outcome: .answered)
        case .failed(let error): Delivery.Turn(outcome: DeliveryOutcome(error))
        case .unknown: deliver(call, selector, to: registration, isReported: listsAll)
        case .skipped: Delivery.Turn(outcome: .notCalled)
        }
      note(turn, of: registration, call, &tally, isReported: listsAll)
      do { try each(registration, turn) } catch { refusal = error }
      return refusal == nil && !tally.meets(ends)
    }
    return try end(tally, selector, refusal)
  }

  /// Delivers an invocation to the targets, awaits them, and calls `each` with what became of each
  /// turn, while the invocation has the answer.
  ///
  /// - Throws: the error of `each`, which ends the delivery, or what keeps the message from being
  ///   delivered.
  private nonisolated(nonsending) func deliverAwaiting(
    _ invocation: Invocation, concurrently: Bool, _ ends: DeliveryEnds,
    _ each: (Registration, Delivery.Turn) throws -> Void
  ) async throws -> TargetList.Tally {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    var tally = TargetList.Tally()
    var refusal: (any Error)?
    try await AwaitedStep.take(
      through: targetList, invocation.call, selector, for: type(of: self)
    ) {
      guard var walk = AwaitedWalk(targetList, ends, endsWithTask: invocation.endsWithTask) else {
        throw InvocationError.outOfMemory
      }
      invocation.call.forgetResult()
      let delivery = Delivery(proxy: self, invocation: invocation, selector: selector)
      do {
        if concurrently {
          try await delivery.runConcurrently(&walk, ends, &tally, each)
        } else {
          try await delivery.runAwaiting(&walk, &tally, each)
        }
      } catch { refusal = error }
    }
    return try end(tally, selector, refusal)
  }

  /// Ends a delivery whose turns a closure has seen.
  private func end(
    _ tally: TargetList.Tally, _ selector: Selector, _ refusal: (any Error)?
  ) throws -> TargetList.Tally {
    if tally.metDead { purge() }
    guard let refusal else { return tally }
    diagnose(tally.failures, of: selector)
    throw refusal
  }

  // MARK: Answers

  /// Asks the targets in order, and calls `each` while the call has an answer.
  ///
  /// - Parameter stopsAtFirst: whether the first answer ends the delivery. If not, all are asked.
  /// - Throws: The error of `each`, which ends the delivery; or else the first error of a target, when all others were
  ///   asked. Errors of targets that are not thrown are diagnostics.
  @usableFromInline
  func ask(
    _ call: Call, _ selector: Selector, stopsAtFirst: Bool, _ each: (Call) throws -> Void
  ) throws {
    let ends = targetList.ends(hasResult: call.returnsValue).collecting(stopsAtFirst: stopsAtFirst)
    let tally = try deliver(call, selector, ends) { _, turn in
      if turn.outcome.isAnswer { try each(call) }
    }
    try throwFirst(tally, selector)
  }

  /// Asks the targets, awaits them, and calls `each` while the invocation has an answer; see
  /// ``ask(_:_:stopsAtFirst:_:)``.
  nonisolated(nonsending) func askAwaiting(
    _ invocation: Invocation, concurrently: Bool, stopsAtFirst: Bool,
    _ each: (Invocation) throws -> Void
  ) async throws {
    let ends = targetList.ends(hasResult: invocation.returnsValue)
      .collecting(stopsAtFirst: stopsAtFirst)
    let tally = try await deliverAwaiting(invocation, concurrently: concurrently, ends) { _, turn in
      if turn.outcome.isAnswer { try each(invocation) }
    }
    if let selector = invocation.selector { try throwFirst(tally, selector) }
  }

  /// Throws the first error of a delivery.
  private func throwFirst(_ tally: TargetList.Tally, _ selector: Selector) throws {
    diagnose(tally.failures.dropFirst(), of: selector)
    if let error = tally.error { throw error }
  }

  /// Returns the results of all targets that answer, in order.
  ///
  /// - Throws: the first error of a target, after all were called; the others are diagnostics.
  @inlinable
  public func answers<Value>(
    to invocation: Invocation, as type: Value.Type = Value.self
  ) throws -> [Value] {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    // An answer of another type is the error of the first target that gives it.
    let place = Result { () throws(InvocationError) in
      try invocation.call.placeOfResult(as: type)
    }
    var values: [Value] = []
    try ask(invocation.call, selector, stopsAtFirst: false) { call in
      if values.isEmpty { values.reserveCapacity(4) }
      values.append(try call.fittingAnswer(as: type, place.get()))
    }
    return values
  }

  // MARK: Awaiting

  /// Delivers an invocation, awaits the targets, and reports the outcome at each.
  nonisolated(nonsending) func reportAwaiting<Answer>(
    _ invocation: Invocation, concurrently: Bool, _ answer: (Call) throws -> Answer
  ) async throws -> DeliveryReport<Answer> {
    var report = DeliveryReport<Answer>()
    _ = try await deliverAwaiting(
      invocation, concurrently: concurrently, targetList.ends(hasResult: invocation.returnsValue)
    ) { registration, turn in
      report.add(turn, token(of: registration)) { try answer(invocation.call) }
    }
    if let error = report.unread { throw error }
    return report
  }

  /// Delivers an invocation, awaits the targets, and decides what the sender gets.
  nonisolated(nonsending) func sendAwaiting(
    _ invocation: Invocation, concurrently: Bool
  ) async throws {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    let combiner = combiner(of: invocation.call, selector)
    var answer: Any?
    // What is combined is asked of all.
    let ends = targetList.ends(hasResult: invocation.returnsValue && combiner == nil)
    let tally = try await deliverAwaiting(invocation, concurrently: concurrently, ends) { _, turn in
      if turn.outcome.isAnswer { answer = try combiner?.add(answer, invocation.call) }
    }
    if let answer { try combiner?.set(answer, invocation.call) }
    try conclude(invocation.call, selector, tally)
  }

  /// Forwards a call whose protocol says how several answers become one: all targets are asked.
  func forward(_ call: Call, _ selector: Selector, _ combiner: AnswerCombiner) throws {
    var answer: Any?
    let tally = try deliver(call, selector, targetList.ends(hasResult: false)) { _, turn in
      if turn.outcome.isAnswer { answer = try combiner.add(answer, call) }
    }
    if let answer { try combiner.set(answer, call) }
    try conclude(call, selector, tally)
  }

  // MARK: What the sender gets

  package func verdict(
    _ selector: Selector, _ tally: TargetList.Tally, returnsValue: Bool, hasOtherwise: Bool
  ) -> Verdict {
    if tally.metDead { purge() }
    diagnose(tally.failures.dropFirst(), of: selector)
    if let error = tally.error { return .failed(error) }
    if tally.answered > 0 { return .answered }
    // Without a result a proxy throws another error instead: a guard fails closed, so that a message in
    // a queue is no answer.
    let isGuard = hasOtherwise && !returnsValue
    if tally.hasQueued, !isGuard { return .answered }
    let rule = whenNobodyAnswers
    let isError = rule == .throw || rule == .throwForResults && (returnsValue || isGuard)
    // The error ends at the proxy that answers.
    if !isError || !hasOtherwise { diagnoseUnanswered(selector, isError: isError) }
    guard isError else { return .answered }
    return .unanswered(
      targetList.isOfOne && isEmpty
        ? ForwardingError.targetGone(selector) : ForwardingError.nobodyAnswered(selector))
  }

  package func overrule(_ member: ListedTarget, _ selector: Selector) {
    tellListener(.overruled(token(of: member), selector))
  }

  /// Gives a sender what the verdict says.
  @inline(never)
  func conclude(_ call: Call, _ selector: Selector, _ tally: TargetList.Tally) throws {
    let verdict = verdict(
      selector, tally, returnsValue: call.returnsValue,
      hasOtherwise: UnansweredMessages.hasOtherwise(call))
    switch verdict {
    case .answered:
      // A message that is queued for targets whose results are ignored is answered, too.
      if tally.answered == 0 { call.answerWithZero() }
    case .failed(let error):
      guard tally.answered > 0, UnansweredMessages.cannotThrow(call) else { throw error }
      diagnose(.unheard(selector, error))
    case .unanswered(let error):
      UnansweredMessages.note(call)
      if let error { throw error }
    }
  }

  // MARK: Turns

  /// Adds the outcome of a turn to the tally of its delivery.
  ///
  /// - Parameter isReported: whether the sender gets the ticket of a target that answers later.
  func note(
    _ turn: Delivery.Turn, of registration: Registration, _ call: Call,
    _ tally: inout TargetList.Tally, isReported: Bool = false
  ) {
    switch turn.outcome {
    case .answered: tally.answered += 1
    case .queued:
      guard call.returnsValue, let selector = call.selector else { return tally.hasQueued = true }
      // The target counts as not asked: its answer comes when the sender has one.
      if !isReported { diagnose(.tooLate(token(of: registration), selector)) }
    case .dead: tally.metDead = true
    default: if let error = turn.outcome.error { tally.fail(error, at: registration) }
    }
  }

  /// Sends a call to a target that is not simply called. The call then has the answer.
  private func deliver(
    _ call: Call, _ selector: Selector, to registration: Registration, isReported: Bool = false
  ) -> Delivery.Turn {
    // Handled before the general case, which is slow: many targets may have died at once.
    if !registration.isAlive, !registration.isRemoved, !registration.isBlocked {
      return Delivery.Turn(outcome: .dead)
    }
    return call.withInvocation { invocation in
      let delivery = Delivery(
        proxy: self, invocation: invocation, selector: selector, isReported: isReported)
      let turn = delivery.turn(of: registration)
      delivery.adoptAnswer(of: turn)
      return turn
    }
  }
}

extension DeliveryEnds {
  /// The same for a sender that collects answers: of all targets, or the first.
  fileprivate func collecting(stopsAtFirst: Bool) -> DeliveryEnds {
    var ends = self
    ends.areAnswers = stopsAtFirst
    ends.areQueued = stopsAtFirst && areQueued
    return ends
  }
}

extension MulticastProxy: TargetListOwner {
  package func publishTargets() {
    registrations.withLockInPlace { _ in targetList.publish() }
  }

  package func deliver(
    _ call: Call, to registration: ListedTarget, _ tally: inout TargetList.Tally
  ) {
    guard let selector = call.selector else { return }
    note(deliver(call, selector, to: registration), of: registration, call, &tally)
  }

  package nonisolated(nonsending) func deliverAwaiting(
    _ invocation: Invocation, to registration: ListedTarget, _ tally: inout TargetList.Tally
  ) async {
    guard let selector = invocation.selector else { return }
    let delivery = Delivery(proxy: self, invocation: invocation, selector: selector)
    let turn = await delivery.turnAwaiting(of: registration)
    delivery.adoptAnswer(of: turn)
    note(turn, of: registration, invocation.call, &tally)
  }
}
