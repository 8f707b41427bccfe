import Dispatch

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
  /// The result that the proxy's ``results`` rule selects is the invocation's when this returns.
  /// Throws only if the invocation cannot be delivered at all; what targets throw is in the report.
  @discardableResult
  public func deliver(_ invocation: Invocation) throws -> DeliveryReport {
    let stopsAtFirst = results == .first
    return try deliver(invocation) { _ in stopsAtFirst ? .stop : .next }
  }

  /// Delivers an invocation and looks at each answer: the result is the invocation's then. What
  /// `each` throws ends the delivery, and is thrown.
  @discardableResult
  public func deliver(
    _ invocation: Invocation, each: (Invocation) throws -> Step
  ) throws -> DeliveryReport {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    // The chain that led to `forward(_:)` holds a step for the proxy itself already.
    try ForwardingDepth.enter(scope, invocation, selector, for: self)
    defer { ForwardingDepth.leave() }
    let delivery = Delivery(proxy: self, invocation: invocation, selector: selector)
    return try delivery.run(snapshot, each)
  }

  /// The results of all targets that answer, in order.
  public func all<Value: CallValue>(
    _ invocation: Invocation, as type: Value.Type = Value.self
  ) throws -> [Value] {
    var values: [Value] = []
    let report = try deliver(invocation) { call in
      values.append(try call.result(as: type))
      return .next
    }
    if let error = report.errors.first { throw error }
    return values
  }

  /// Combines the results of the targets, from the first on; `combine` may end the delivery.
  public func fold<Value: CallValue, Sum>(
    _ invocation: Invocation, as type: Value.Type = Value.self, into initial: Sum,
    _ combine: (inout Sum, Value) throws -> Step
  ) throws -> Sum {
    var sum = initial
    let report = try deliver(invocation) { call in try combine(&sum, call.result(as: type)) }
    if let error = report.errors.first { throw error }
    return sum
  }
}

/// One message on its way to the members of a snapshot.
private struct Delivery {
  let proxy: MulticastProxy
  let invocation: Invocation
  let selector: Selector

  func run(
    _ members: [MulticastMember], _ each: (Invocation) throws -> MulticastProxy.Step
  ) throws -> DeliveryReport {
    var report = DeliveryReport()
    report.entries.reserveCapacity(members.count)
    var isOver = false
    var hasDead = false
    // An older result must not pass for an answer to this message.
    invocation.forgetAnswer()
    for member in members {
      if isOver {
        report.add(member, nil, .notCalled)
        continue
      }
      guard !member.isRemoved else {
        report.add(member, nil, .removed)
        continue
      }
      guard !member.isBlocked else {
        report.add(member, nil, .blocked)
        continue
      }
      // Held from here to the end of its turn, asked and called on the same reference.
      guard let target = member.reference.object else {
        hasDead = true
        report.add(member, nil, .dead)
        continue
      }
      let method: Implementation?
      do {
        method = try invocation.directMethod(of: target)
      } catch {
        report.add(member, target, .failed(error))
        continue
      }
      guard method != nil || Messaging.responds(target, to: selector) else {
        report.add(member, target, .noMethod)
        continue
      }
      guard member.take() else {
        report.add(member, target, .removed)
        continue
      }
      if member.isOnce { proxy.remove(member.token) }
      let (outcome, ticket, call) = send(to: target, method, member)
      let answer = invocation.returnsValue ? call.map { DeliveryAnswer($0) } : nil
      report.add(member, target, outcome, answer, ticket)
      guard outcome.isAnswer, let call else { continue }
      if call !== invocation { invocation.takeResult(from: call) }
      isOver = try each(invocation) == .stop
    }
    if hasDead { purge() }
    return report
  }

  private func purge() {
    // Loaded outside of the lock, as a target may die of being let go. Who removes tells of it.
    let dead = Set(proxy.snapshot.filter { $0.reference.object == nil }.map(\.token))
    for member in proxy.take(where: { dead.contains($0.token) }) {
      proxy.diagnose(.deadTarget(member.token))
    }
  }

  /// Sends to one target in its lane; gives the invocation that holds the answer.
  private func send(
    to target: AnyObject, _ method: Implementation?, _ member: MulticastMember
  ) -> (DeliveryOutcome, DeliveryTicket?, Invocation?) {
    switch member.lane.kind {
    case .caller:
      return sendHere(to: target, method)
    case .blocking(let queue, let deadline):
      if QueueMark.isCurrent(queue) { return (.wouldDeadlock, nil, nil) }
      guard let deadline else { return queue.sync { sendHere(to: target, method) } }
      return sendWaiting(member, queue, deadline)
    case .queue(let queue, let isResultIgnored):
      return sendLater(member, isResultIgnored) { job in
        queue.async { job.run() }
      }
    case .actor(let actor, let isResultIgnored):
      return sendLater(member, isResultIgnored) { job in
        member.run(job, on: actor)
      }
    case .executor(let executor, let isResultIgnored):
      return sendLater(member, isResultIgnored) { job in
        member.run(job, on: executor)
      }
    }
  }

  /// The message is carried by a copy wherever a target could leave something in it: one that
  /// forwards may change arguments, and a result must survive a later target's failure.
  private func sendHere(
    to target: AnyObject, _ method: Implementation?
  ) -> (DeliveryOutcome, DeliveryTicket?, Invocation?) {
    do {
      if let method, !invocation.returnsValue {
        try invocation.perform(method, on: target)
        return (.answered, nil, invocation)
      }
      let copy = invocation.carryingCopy()
      if let method { try copy.perform(method, on: target) } else { try copy.send(to: target) }
      return (.answered, nil, copy)
    } catch {
      return (.failed(error), nil, nil)
    }
  }

  private func sendWaiting(
    _ member: MulticastMember, _ queue: DispatchQueue,
    _ deadline: DispatchTimeInterval
  ) -> (DeliveryOutcome, DeliveryTicket?, Invocation?) {
    // The sender may be gone before the target has finished, so the message must stand alone.
    let job: DeliveryJob
    switch standalone(member) {
    case .success(let made): job = made
    case .failure(let error): return (.failed(error), nil, nil)
    }
    queue.async { job.run() }
    guard let outcome = job.ticket.wait(timeout: .now() + deadline) else {
      job.abandon()
      job.ticket.resolve(.timedOut)
      return (job.ticket.outcome ?? .timedOut, job.ticket, nil)
    }
    return (outcome, job.ticket, outcome.isAnswer ? job.invocation : nil)
  }

  private func sendLater(
    _ member: MulticastMember, _ isResultIgnored: Bool,
    _ enqueue: (DeliveryJob) -> Void
  ) -> (DeliveryOutcome, DeliveryTicket?, Invocation?) {
    if invocation.returnsValue, !isResultIgnored {
      let type = "\(invocation.methodSignature.resultType)"
      return (.failed(ForwardingError.resultNotAwaited(type: type)), nil, nil)
    }
    switch standalone(member) {
    case .success(let job):
      enqueue(job)
      return (.queued, job.ticket, nil)
    case .failure(let error): return (.failed(error), nil, nil)
    }
  }

  /// A retained copy for another thread; refused if it would refer to memory that nobody keeps.
  private func standalone(
    _ member: MulticastMember
  ) -> Result<DeliveryJob, ForwardingError> {
    if let index = invocation.firstBorrowedArgument {
      let type = "\(invocation.methodSignature.argumentTypes[index])"
      return .failure(.borrowedArgument(index: index, type: type))
    }
    let copy = invocation.carryingCopy()
    copy.retainArguments(includingTarget: false)
    copy.path.append(proxy.scope)
    return .success(DeliveryJob(copy, member))
  }
}

extension DeliveryReport {
  fileprivate mutating func add(
    _ member: MulticastMember, _ target: AnyObject?, _ outcome: DeliveryOutcome,
    _ answer: DeliveryAnswer? = nil, _ ticket: DeliveryTicket? = nil
  ) {
    entries.append(
      Entry(
        token: member.token, type: target.map { type(of: $0) }, outcome: outcome,
        answer: answer, ticket: ticket))
  }
}
