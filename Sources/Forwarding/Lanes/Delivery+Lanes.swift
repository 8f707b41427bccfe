// SPDX-License-Identifier: Apache-2.0
import Dispatch

// Turns of a message in a lane: on another thread, once only, or while the sender waits.
extension Delivery {
  /// The lane of a turn, or the outcome if there is no turn.
  enum Claim {
    case lane(DeliveryLane, CallEnd)
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
      try refuseToCarry(to: registration, on: wishes.lane, isAwaited: isAwaited)
    } catch {
      return .over(Turn(outcome: .failed(error)))
    }
    let mayLeaveOut = method?.isOptional ?? false
    guard let end = proxy.claim(registration, wishes, mayLeaveOut: mayLeaveOut) else {
      return .over(Turn(outcome: .removed))
    }
    return .lane(wishes.lane, end)
  }

  /// Refuses a message that cannot go to another thread: its result would be lost, or it refers to
  /// memory that is not retained.
  ///
  /// - Throws: ``ForwardingError/resultNotAwaited(_:_:)`` or
  ///   ``ForwardingError/borrowedArgument(_:index:type:)``.
  private func refuseToCarry(
    to registration: Registration, on lane: DeliveryLane, isAwaited: Bool
  ) throws(ForwardingError) {
    guard lane.outlivesSender else { return }
    if lane.isLater, invocation.returnsValue, !isAwaited, !lane.leavesQuestions {
      let type = invocation.methodSignature.resultType
      throw .resultNotAwaited(.init(selector, to: registration), type)
    }
    if let index = invocation.call.firstBorrowedArgument {
      let type = invocation.methodSignature.argumentTypes[index]
      throw .borrowedArgument(.init(selector, to: registration), index: index, type: type)
    }
  }

  /// Ends a once-only registration that the message has claimed, if the target has answered.
  func settle(_ turn: Turn, _ registration: Registration, _ end: CallEnd) -> Turn {
    if case .after = end { proxy.settle(registration, turn.outcome) }
    return turn
  }

  /// A parcel with a copy of the invocation that retains its arguments: the sender may be gone
  /// before the target has finished.
  private func parcel(to registration: Registration, _ waiting: Parcel.Waiting) -> Parcel {
    let copy = invocation.carryingCopy()
    copy.retainArguments(includingTarget: false)
    copy.addToPath(proxy.targetList)
    return Parcel(.message(copy), to: registration, for: proxy, waiting)
  }

  /// Sends to a target with options that need more than a call.
  func sendSpecially(
    to target: AnyObject, _ method: Implementation?, _ registration: Registration
  ) -> Turn {
    switch claim(registration, method, isAwaited: false) {
    case .over(let turn): return turn
    case .lane(let lane, let end):
      var turn: Turn?
      if !lane.outlivesSender {
        registration.callHere(in: lane, selector) { turn = sendHere(to: target, method) }
      } else if let waiting = registration.waiting(in: lane) {
        let parcel = parcel(to: registration, waiting)
        parcel.start(end, of: registration, suspends: method?.isAwaited ?? false)
        let outcome = lane.deadline.map { parcel.outcome(within: $0) } ?? .queued
        turn = Turn(
          outcome: outcome, ticket: parcel.ticket, call: outcome.isAnswer ? parcel.answer : nil)
      }
      return settle(
        turn ?? Turn(outcome: .wouldDeadlock(selector, registration)), registration, end)
    }
  }

  // MARK: Awaiting

  /// Sends to one target, and awaits the answer.
  nonisolated(nonsending) func turnAwaiting(of registration: Registration) async -> Turn {
    switch find(registration) {
    case .over(let turn): return turn
    case .target(let target, let method):
      guard registration.isSpecial else { return await sendHereAwaiting(to: target, method) }
      switch claim(registration, method, isAwaited: true) {
      case .over(let turn): return turn
      case .lane(let lane, let end):
        return await sendAwaiting(to: target, method, registration, lane, end)
      }
    }
  }

  /// Calls a target without a lane, and awaits the end; see ``sendHere(to:_:)``.
  private nonisolated(nonsending) func sendHereAwaiting(
    to target: AnyObject, _ method: Implementation?
  ) async -> Turn {
    guard method?.isAwaited ?? true else { return sendHere(to: target, method) }
    let copy = invocation.carryingCopy()
    do {
      if let method {
        try await copy.performAwaiting(method, on: target)
        return Turn(outcome: .answered, call: copy)
      }
      // A target that forwards may retain the copy, and modify it later.
      defer { copy.keepArguments() }
      try await copy.sendAwaiting(to: target)
      return Turn(outcome: .answered, call: copy.unsharedAnswer())
    } catch {
      return Turn(outcome: DeliveryOutcome(error, of: copy.call))
    }
  }

  /// Sends to one target in its lane, and awaits the answer.
  nonisolated(nonsending) func sendAwaiting(
    to target: AnyObject, _ method: Implementation?, _ registration: Registration,
    _ lane: DeliveryLane, _ end: CallEnd
  ) async -> Turn {
    if lane.isHere { return settle(await sendHereAwaiting(to: target, method), registration, end) }
    let parcel = parcel(to: registration, .awaiting(AwaitedStep.current))
    parcel.start(end, of: registration, suspends: method?.isAwaited ?? true)
    let outcome = await parcel.outcome(
      within: lane.deadline, endsWithTask: invocation.endsWithTask)
    let turn = Turn(
      outcome: outcome, ticket: parcel.ticket, call: outcome.isAnswer ? parcel.answer : nil)
    return settle(turn, registration, end)
  }
}
