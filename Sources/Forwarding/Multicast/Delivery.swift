// SPDX-License-Identifier: Apache-2.0
/// The delivery of one message to the targets of a proxy.
struct Delivery {
  let proxy: MulticastProxy
  let invocation: Invocation
  let selector: Selector
  /// The method that every target performs instead of its own; nil in ordinary deliveries.
  var visit: Visit?

  /// The outcome of one target's turn.
  struct Turn {
    var outcome: DeliveryOutcome
    var type: Any.Type?
    var ticket: DeliveryTicket?
    /// The invocation that holds the answer; nil without an answer.
    var call: Invocation?
  }

  func run(
    _ registrations: [Registration], _ each: (Invocation) throws -> MulticastProxy.Step
  ) throws -> DeliveryReport {
    var report = DeliveryReport()
    report.entries.reserveCapacity(registrations.count)
    var isOver = false
    var metDead = false
    let endsAtError = proxy.targetList.stopsAtFirstError
    // An earlier result of the invocation must not be taken for an answer to this message.
    invocation.forgetAnswer()
    for registration in registrations {
      let turn = isOver ? Turn(outcome: .notCalled) : turn(of: registration)
      report.add(registration, turn, hasAnswer: invocation.returnsValue)
      if case .dead = turn.outcome { metDead = true }
      if endsAtError, turn.outcome.error != nil { isOver = true }
      guard turn.outcome.isAnswer, let call = turn.call else { continue }
      if call !== invocation { invocation.adoptResult(from: call) }
      do {
        isOver = try each(invocation) == .stop
      } catch {
        if metDead { proxy.purge() }
        proxy.diagnose(report.failures, of: selector)
        throw error
      }
    }
    if metDead { proxy.purge() }
    return report
  }

  /// The state at the beginning of a turn: a target and the method of its class, or the outcome if
  /// the turn is already over.
  enum Found {
    case target(AnyObject, Implementation?)
    case over(Turn)
  }

  func find(_ registration: Registration) -> Found {
    if registration.isRemoved { return .over(Turn(outcome: .removed)) }
    if registration.isBlocked { return .over(Turn(outcome: .blocked)) }
    // The target is retained until its turn ends: `responds(to:)` and the method use one reference.
    guard let target = registration.object else { return .over(Turn(outcome: .dead)) }
    registration.markReached()
    let type = registration.targetType
    if let visit, !visit.accepts(target) { return .over(Turn(outcome: .noMethod, type: type)) }
    do {
      let method = try visit?.method ?? invocation.call.directMethod(of: target)
      guard try method != nil || ForwardingDepth.responds(target, to: selector) else {
        return .over(Turn(outcome: .noMethod, type: type))
      }
      return .target(target, method)
    } catch {
      return .over(Turn(outcome: .failed(error), type: type))
    }
  }

  func turn(of registration: Registration) -> Turn {
    switch find(registration) {
    case .over(let turn): return turn
    case .target(let target, let method):
      var turn =
        registration.isSpecial
        ? sendSpecially(to: target, method, registration) : sendHere(to: target, method)
      turn.type = registration.targetType
      return turn
    }
  }

  /// Calls a target on this thread.
  ///
  /// A copy of the invocation carries the message wherever a target could modify it: a target that
  /// forwards may change the arguments, and a result must survive the failure of a later target.
  func sendHere(
    to target: AnyObject, _ method: Implementation?
  ) -> Turn {
    do {
      if let method, !invocation.returnsValue {
        try invocation.call.perform(method, on: target)
        return Turn(outcome: .answered, call: invocation)
      }
      let copy = invocation.carryingCopy()
      if let method {
        try copy.call.perform(method, on: target)
      } else {
        // A target that forwards may retain the copy, and modify it later.
        defer { copy.keepArguments() }
        try copy.send(to: target)
        return Turn(outcome: .answered, call: copy.unsharedAnswer())
      }
      return Turn(outcome: .answered, call: copy)
    } catch {
      return Turn(outcome: DeliveryOutcome(error))
    }
  }
}

extension TargetList.Tally {
  /// The errors after the first one.
  var failures: [DeliveryFailure] {
    laterErrors.map {
      DeliveryFailure(
        token: MulticastProxy.Token(id: $0.id, target: $0.identity, $0.type), type: $0.type,
        error: $0.error)
    }
  }
}

extension DeliveryReport {
  var failures: [DeliveryFailure] {
    entries.compactMap { entry in
      entry.outcome.error.map {
        DeliveryFailure(token: entry.token, type: entry.type, error: $0)
      }
    }
  }

  mutating func add(_ registration: Registration, _ outcome: DeliveryOutcome) {
    entries.append(
      Entry(
        token: registration.token, type: registration.targetType, outcome: outcome, late: nil))
  }

  mutating func add(
    _ registration: Registration, _ turn: Delivery.Turn, hasAnswer: Bool
  ) {
    entries.append(
      Entry(
        token: registration.token, type: turn.type, outcome: turn.outcome,
        late: Entry.Late(hasAnswer ? turn.call : nil, turn.ticket)))
  }
}
