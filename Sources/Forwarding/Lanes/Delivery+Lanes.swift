import Dispatch

// A turn in a lane: on another thread, once, or while the sender waits.
extension Delivery {
  /// Sends to a target for which more is wished than a call.
  func sendSpecially(
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
