import Dispatch

/// One message on its way to the targets of a proxy.
struct Delivery {
  let proxy: MulticastProxy
  let invocation: Invocation
  let selector: Selector
  /// What every target performs, in place of a method of its own.
  var visit: Visit?

  /// What became of one target's turn.
  struct Turn {
    var outcome: DeliveryOutcome
    var type: AnyClass?
    var ticket: DeliveryTicket?
    /// The invocation that holds the answer, if there is one.
    var call: Invocation?
  }

  func run(
    _ registrations: [Registration], _ each: (Invocation) throws -> MulticastProxy.Step
  ) throws -> DeliveryReport {
    var report = DeliveryReport()
    report.entries.reserveCapacity(registrations.count)
    var isOver = false
    var metDead = false
    // An older result must not pass for an answer to this message.
    invocation.forgetAnswer()
    for registration in registrations {
      let turn = isOver ? Turn(outcome: .notCalled) : turn(of: registration)
      report.add(registration, turn, hasAnswer: invocation.returnsValue)
      if case .dead = turn.outcome { metDead = true }
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

  func turn(of registration: Registration) -> Turn {
    if registration.listed.isRemoved { return Turn(outcome: .removed) }
    if registration.listed.isBlocked { return Turn(outcome: .blocked) }
    // The target is held to the end of its turn: it is asked and called through the same reference.
    guard let target = registration.listed.object else { return Turn(outcome: .dead) }
    registration.meet()
    let type: AnyClass = type(of: target)
    if let visit, !visit.accepts(target) { return Turn(outcome: .noMethod, type: type) }
    let method: Implementation?
    do {
      method = try visit?.method ?? invocation.directMethod(of: target)
      guard try method != nil || ForwardingDepth.responds(target, to: selector) else {
        return Turn(outcome: .noMethod, type: type)
      }
    } catch {
      return Turn(outcome: .failed(error), type: type)
    }
    var turn =
      registration.listed.isSpecial
      ? sendSpecially(to: target, method, registration) : sendHere(to: target, method)
    turn.type = type
    return turn
  }

  /// Sends to a target for which more is wished than a call.
  private func sendSpecially(
    to target: AnyObject, _ method: Implementation?, _ registration: Registration
  ) -> Turn {
    // As they are now, to the end of the turn: others may change them meanwhile.
    let wishes = proxy.wishes(of: registration)
    do {
      // Refused before the message uses up a registration for one message.
      try refuseQueued(wishes.lane)
    } catch {
      return Turn(outcome: .failed(error))
    }
    var isLast = false
    if wishes.isOnce {
      guard registration.claim() else { return Turn(outcome: .removed) }
      isLast = proxy.endOnce(registration)
    }
    return send(to: target, method, registration, wishes.lane, isLast)
  }

  /// Sends to one target in its lane; returns the invocation that holds the answer.
  ///
  /// - Parameter isLast: whether the registration has ended with this message.
  private func send(
    to target: AnyObject, _ method: Implementation?, _ registration: Registration,
    _ lane: DeliveryLane, _ isLast: Bool
  ) -> Turn {
    switch lane.kind {
    case .caller:
      return sendHere(to: target, method)
    case .blocking(let queue, let deadline):
      let mark = lane.mark ?? QueueMark.of(queue)
      if mark.isCurrent { return sendHere(to: target, method) }
      guard let chain = BlockingChain.waiting(for: mark) else {
        return Turn(outcome: .wouldDeadlock)
      }
      guard let deadline else {
        let turn = mark.outside(of: proxy) {
          queue.sync { chain.run { sendHere(to: target, method) } }
        }
        return turn ?? Turn(outcome: .wouldDeadlock)
      }
      return sendWaiting(standalone(registration, isLast, awaitedBy: chain), queue, deadline)
    case .queue(let queue, _):
      return sendLater(standalone(registration, isLast, awaitedBy: nil)) { job in
        queue.async { job.run() }
      }
    case .actor(let actor, _):
      return sendLater(standalone(registration, isLast, awaitedBy: nil)) { job in
        (registration.order ?? LaneOrder()).run(job, on: actor)
      }
    case .executor(let executor, _):
      return sendLater(standalone(registration, isLast, awaitedBy: nil)) { job in
        (registration.order ?? LaneOrder()).run(job, on: executor)
      }
    }
  }

  /// The message is carried by a copy wherever a target could leave something in it: one that
  /// forwards may change arguments, and a result must survive a later target's failure.
  private func sendHere(
    to target: AnyObject, _ method: Implementation?
  ) -> Turn {
    do {
      if let method, !invocation.returnsValue {
        try invocation.perform(method, on: target)
        return Turn(outcome: .answered, call: invocation)
      }
      let copy = invocation.carryingCopy()
      if let method {
        try copy.perform(method, on: target)
      } else {
        // A target that forwards may keep the copy, and change it.
        defer { copy.keepArguments() }
        try copy.send(to: target)
        return Turn(outcome: .answered, call: copy.isKnownToNobodyElse ? copy : copy.answerAlone())
      }
      return Turn(outcome: .answered, call: copy)
    } catch {
      return Turn(outcome: .failed(error))
    }
  }

  private func sendWaiting(
    _ job: DeliveryJob, _ queue: DispatchQueue, _ deadline: DispatchTimeInterval
  ) -> Turn {
    queue.async { job.run() }
    // The target or the clock decides, whichever is first; the ticket keeps that outcome.
    let outcome =
      job.ticket.wait(timeout: .now() + deadline) ?? job.ticket.settle(.timedOut)
    return Turn(
      outcome: outcome, ticket: job.ticket, call: outcome.isAnswer ? job.answer : nil)
  }

  private func sendLater(_ job: DeliveryJob, _ enqueue: (DeliveryJob) -> Void) -> Turn {
    enqueue(job)
    return Turn(outcome: .queued, ticket: job.ticket)
  }

  /// Refuses what cannot go to another thread: a result that nobody waits for, and memory that nobody
  /// keeps.
  private func refuseQueued(_ lane: DeliveryLane) throws(ForwardingError) {
    switch lane.kind {
    case .caller, .blocking(_, nil): return
    case .queue(_, let isResultIgnored), .actor(_, let isResultIgnored),
      .executor(_, let isResultIgnored):
      if invocation.returnsValue, !isResultIgnored {
        throw .resultNotAwaited(invocation.methodSignature.resultType)
      }
    case .blocking: if lane.mark?.isCurrent ?? false { return }
    }
    if let index = invocation.firstBorrowedArgument {
      let type = invocation.methodSignature.argumentTypes[index]
      throw .borrowedArgument(index: index, type: type)
    }
  }

  /// A retained copy for another thread: the sender may be gone before the target has finished.
  private func standalone(
    _ registration: Registration, _ isLast: Bool, awaitedBy chain: BlockingChain?
  ) -> DeliveryJob {
    let copy = invocation.carryingCopy()
    copy.retainArguments(includingTarget: false)
    copy.addToPath(proxy.targetList)
    return DeliveryJob(
      copy, registration, isLast: isLast, visit?.method, for: proxy, awaitedBy: chain)
  }
}

extension TargetList.Tally {
  /// The errors after the first.
  var failures: [DeliveryFailure] {
    unthrown.compactMap { member, error in
      (member as? Registration).map {
        DeliveryFailure(token: $0.token, type: $0.listed.type, error: error)
      }
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

  mutating func add(
    _ registration: Registration, _ turn: Delivery.Turn, hasAnswer: Bool
  ) {
    entries.append(
      Entry(
        token: registration.token, type: turn.type, outcome: turn.outcome,
        answer: hasAnswer ? turn.call.map { DeliveryAnswer($0) } : nil, ticket: turn.ticket))
  }
}
