// SPDX-License-Identifier: Apache-2.0
public import Invocations

// A call that asks each target: the sender takes its answer before the next one has its turn.

extension MulticastProxy {
  /// Asks the targets in order, and calls `each` while the call has an answer.
  ///
  /// - Throws: The error of `each`, which ends the delivery; or else the first error of a target, when all others were
  ///   asked. Errors of targets that are not thrown are diagnostics.
  @usableFromInline
  func ask(_ call: Call, _ selector: Selector, _ each: (Call) throws -> Step) throws {
    var failures: [DeliveryFailure] = []
    do {
      try ask(call, selector, each) { failures.append($0) }
    } catch {
      diagnose(failures, of: selector)
      throw error
    }
    guard let first = failures.first else { return }
    diagnose(failures.dropFirst(), of: selector)
    throw first.error
  }

  /// Asks the targets in order; `failed` is called with the errors that they throw.
  ///
  /// - Throws: The error of `each`, which ends the delivery, or what keeps the call from being delivered.
  func ask(
    _ call: Call, _ selector: Selector, _ each: (Call) throws -> Step,
    failed: (DeliveryFailure) -> Void
  ) throws {
    var turns = AskedTurns()
    try targetList.ask(call, of: selector, for: self) {
      turns.take(call, each)
    } failed: { thrown in
      turns.note(DeliveryOutcome(thrown.error))
      if !(thrown.error is NotImplemented) { failed(DeliveryFailure(thrown)) }
    } turn: { member in
      let outcome = ask(call, selector, member, failed)
      turns.note(outcome)
      if outcome.isAnswer { return turns.take(call, each) }
      return outcome.error == nil || !targetList.stopsAtFirstError
    }
    if turns.metDead { purge() }
    if let refusal = turns.refusal { throw refusal }
    if turns.needsAnswer, try answersForTargets(call, selector) { _ = try each(call) }
  }

  /// Asks one target by itself; the call has its answer afterwards.
  private func ask(
    _ call: Call, _ selector: Selector, _ member: Registration,
    _ failed: (DeliveryFailure) -> Void
  ) -> DeliveryOutcome {
    // Many may have died at once, and what follows takes long.
    if !member.isAlive, !member.isRemoved, !member.isBlocked { return .dead }
    var outcome = DeliveryOutcome.dead
    call.withInvocation { invocation in
      let delivery = Delivery(proxy: self, invocation: invocation, selector: selector)
      let turn = delivery.turn(of: member)
      outcome = turn.outcome
      if let error = outcome.error {
        failed(DeliveryFailure(token: member.token, type: turn.type, error: error))
      }
      if outcome.isAnswer, let answering = turn.call, answering !== invocation {
        invocation.adoptResult(from: answering)
      }
    }
    return outcome
  }

  /// Whether the proxy itself answers a call that no target has answered.
  private func answersForTargets(_ call: Call, _ selector: Selector) throws -> Bool {
    try ForwardingDepth.enter(targetList, call, selector, for: self)
    defer { ForwardingDepth.leave() }
    var result = Swift.Result<Bool, any Error>.success(false)
    call.withInvocation { call in
      result = Swift.Result { try answerForTargets(call, selector) }
    }
    return try result.get()
  }
}

/// The state of a call that asks each target.
private struct AskedTurns {
  /// The error of the sender, which ended the delivery.
  var refusal: (any Error)?
  /// Whether no target was asked so far.
  var needsAnswer = true
  var metDead = false

  /// Lets the sender take an answer; returns whether the next target has its turn.
  mutating func take(
    _ call: Call, _ each: (Call) throws -> MulticastProxy.Step
  ) -> Bool {
    needsAnswer = false
    do {
      return try each(call) == .next
    } catch {
      refusal = error
      return false
    }
  }

  mutating func note(_ outcome: DeliveryOutcome) {
    if !outcome.isUnasked { needsAnswer = false }
    if case .dead = outcome { metDead = true }
  }
}

extension DeliveryFailure {
  fileprivate init(_ thrown: TargetList.LaterError) {
    self.init(
      token: MulticastProxy.Token(id: thrown.id, target: thrown.identity, thrown.type),
      type: thrown.type,
      error: thrown.error)
  }
}
