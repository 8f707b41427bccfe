// SPDX-License-Identifier: Apache-2.0
import Dispatch

// Turns in a lane: on another thread, once only, or while the sender waits.
extension Delivery {
  /// Sends to a target with options that need more than a call.
  func sendSpecially(
    to target: AnyObject, _ method: Implementation?, _ registration: Registration
  ) -> Turn {
    switch claim(registration, method, isAwaited: false) {
    case .over(let turn): turn
    case .lane(let lane, let end):
      settle(send(to: target, method, registration, lane, end), registration, end)
    }
  }

  /// When a registration ends because of the message.
  enum End {
    /// Not at all.
    case never
    /// The once-only registration has ended.
    case before
    /// The message has claimed the once-only registration, which ends if the target answers: it may
    /// leave out the requirement.
    case after
    /// The same, but the message claims the registration when it arrives on another thread.
    case atArrival
  }

  /// The lane of a turn, or the outcome if there is no turn.
  enum Claim {
    case lane(DeliveryLane, End)
    case over(Turn)
  }

  /// Begins the turn of a registration with options that need more than a call.
  ///
  /// - Parameter method: the method of the target; nil if the target is asked.
  func claim(
    _ registration: Registration, _ method: Implementation?, isAwaited: Bool
  ) -> Claim {
    // The options are read once for the whole turn: other threads may change them meanwhile.
    let wishes = proxy.wishes(of: registration)
    do {
      // Refused before the message claims a once-only registration.
      try refuseQueued(wishes.lane, isAwaited: isAwaited)
    } catch {
      return .over(Turn(outcome: .failed(error)))
    }
    guard wishes.isOnce else { return .lane(wishes.lane, .never) }
    let mayLeaveOut = method?.isOptional ?? false
    switch wishes.lane.kind {
    case .caller, .blocking: break
    case .queue, .actor, .executor:
      // Behind a message that may leave the registration unused, others wait for their turn.
      if mayLeaveOut { registration.claimAtArrival() }
      if registration.isClaimedAtArrival { return .lane(wishes.lane, .atArrival) }
    }
    guard registration.claim() else { return .over(Turn(outcome: .removed)) }
    if mayLeaveOut { return .lane(wishes.lane, .after) }
    return .lane(wishes.lane, proxy.endOnce(registration) ? .before : .never)
  }

  /// Ends a once-only registration that the message has claimed, if the target has answered.
  func settle(_ turn: Turn, _ registration: Registration, _ end: End) -> Turn {
    if case .after = end { proxy.settle(registration, turn.outcome) }
    return turn
  }

  /// Sends to one target in its lane.
  ///
  /// - Parameter end: when the registration ends because of the message.
  private func send(
    to target: AnyObject, _ method: Implementation?, _ registration: Registration,
    _ lane: DeliveryLane, _ end: End
  ) -> Turn {
    switch lane.kind {
    case .caller:
      return sendHere(to: target, method)
    case .blocking(let marked, let deadline):
      let (queue, mark) = (marked.queue, marked.mark)
      if mark.isCurrent { return sendHere(to: target, method) }
      guard let chain = BlockingChain.waiting(for: mark) else {
        return Turn(outcome: .wouldDeadlock)
      }
      guard let deadline else {
        let turn = mark.outside(of: ObjectIdentifier(proxy)) {
          queue.sync { chain.run { sendHere(to: target, method) } }
        }
        return turn ?? Turn(outcome: .wouldDeadlock)
      }
      return sendWaiting(standalone(registration, end, .blocking(chain)), queue, deadline)
    case .queue, .actor, .executor:
      return sendLater(standalone(registration, end, .nobody), method, registration)
    }
  }

  private func sendWaiting(
    _ job: DeliveryJob, _ queue: DispatchQueue, _ deadline: DispatchTimeInterval
  ) -> Turn {
    queue.async { job.perform() }
    // Either the target or the deadline is first; the ticket holds the first outcome.
    let outcome =
      job.ticket.wait(timeout: .now() + deadline) ?? job.ticket.settle(.timedOut)
    return Turn(
      outcome: outcome, ticket: job.ticket, call: outcome.isAnswer ? job.answer : nil)
  }

  /// Sends a message whose outcome the sender does not wait for. The lane awaits an `async` method.
  func sendLater(
    _ job: DeliveryJob, _ method: Implementation?, _ registration: Registration
  ) -> Turn {
    job.start(in: registration.outlet, suspends: method?.isAwaited ?? false)
    return Turn(outcome: .queued, ticket: job.ticket)
  }

  /// Refuses a message that cannot go to another thread: its result would be lost, or it refers to
  /// memory that is not retained.
  ///
  /// - Throws: ``ForwardingError/resultNotAwaited(_:)`` or
  ///   ``ForwardingError/borrowedArgument(index:type:)``.
  private func refuseQueued(_ lane: DeliveryLane, isAwaited: Bool) throws(ForwardingError) {
    switch lane.kind {
    case .caller, .blocking(_, nil): return
    case .queue(_, let isResultIgnored), .actor(_, let isResultIgnored),
      .executor(_, let isResultIgnored):
      if invocation.returnsValue, !isResultIgnored, !isAwaited, !lane.leavesQuestions {
        throw .resultNotAwaited(selector, invocation.methodSignature.resultType)
      }
    case .blocking(let queue, _): if queue.mark.isCurrent { return }
    }
    if let index = invocation.call.firstBorrowedArgument {
      let type = invocation.methodSignature.argumentTypes[index]
      throw .borrowedArgument(selector, index: index, type: type)
    }
  }

  /// Creates a job with a copy of the invocation that retains its arguments: the sender may be gone
  /// before the target has finished.
  func standalone(
    _ registration: Registration, _ end: End, _ waiting: DeliveryJob.Waiting
  ) -> DeliveryJob {
    let copy = invocation.carryingCopy()
    copy.retainArguments(includingTarget: false)
    copy.addToPath(proxy.targetList)
    let stay = invocation.keeper.flatMap { $0 as? LaneStay }
    return DeliveryJob(copy, registration, end, for: proxy, waiting, stay)
  }
}

extension MulticastProxy {
  /// Ends a once-only registration if its target has answered, or threw. Otherwise the next message
  /// may claim it.
  func settle(_ registration: Registration, _ outcome: DeliveryOutcome) {
    switch outcome {
    case .noMethod, .dead, .removed: registration.unclaim()
    default: _ = endOnce(registration)
    }
  }
}
