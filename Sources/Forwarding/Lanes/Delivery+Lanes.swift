// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations
import TypeEncodings

// Turns of a message in a lane: on another thread, once only, or while the sender waits.
extension Delivery {
  /// The error of a message that cannot go to another thread: its result would be lost, or it refers
  /// to memory that is not retained.
  private func refusal(
    to registration: Registration, on lane: DeliveryLane, isAwaited: Bool
  ) -> ForwardingError? {
    guard lane.outlivesSender else { return nil }
    if lane.isLater, invocation.returnsValue, !isAwaited, !lane.leavesQuestions {
      let type = invocation.methodSignature.resultType
      return .resultNotAwaited(.init(selector, to: registration), type)
    }
    return invocation.call.firstBorrowedArgument.map { index in
      .borrowedArgument(
        .init(selector, to: registration), index: index,
        type: invocation.methodSignature.argumentTypes[index])
    }
  }

  /// A call that sends a copy of the invocation, which retains its arguments: the sender may be gone
  /// before the target has finished.
  private func later(suspends: Bool) -> QueuedCall {
    let copy = invocation.carryingCopy()
    copy.retainArguments(includingTarget: false)
    return QueuedCall(selector, sending: copy, suspends: suspends)
  }

  /// Sends to a target with options that need more than a call.
  ///
  /// - Parameter method: the method of the target; nil if the target is asked.
  func sendSpecially(
    to target: AnyObject, _ method: Implementation?, _ registration: Registration
  ) -> Turn {
    let wishes = proxy.wishes(of: registration)
    if let refusal = refusal(to: registration, on: wishes.lane, isAwaited: false) {
      return Turn(outcome: .failed(refusal))
    }
    let later =
      wishes.lane.outlivesSender ? later(suspends: method?.isAwaited ?? false) : nil
    let turn = proxy.turn(
      of: registration, wishes, mayLeaveOut: method?.isOptional ?? false, later,
      isReported: isReported
    ) { sendHere(to: target, method) }
    return turn ?? Turn(outcome: .wouldDeadlock(selector, registration))
  }

  // MARK: Awaiting

  /// Sends to one target, and awaits the answer.
  nonisolated(nonsending) func turnAwaiting(of registration: Registration) async -> Turn {
    switch find(registration) {
    case .over(let turn): return turn
    case .target(let target, let method):
      return registration.isSpecial
        ? await sendSpeciallyAwaiting(to: target, method, registration)
        : await sendHereAwaiting(to: target, method)
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

  /// Sends to a target with options, in its lane, and awaits the answer.
  private nonisolated(nonsending) func sendSpeciallyAwaiting(
    to target: AnyObject, _ method: Implementation?, _ registration: Registration
  ) async -> Turn {
    let wishes = proxy.wishes(of: registration)
    if let refusal = refusal(to: registration, on: wishes.lane, isAwaited: true) {
      return Turn(outcome: .failed(refusal))
    }
    let removed = Turn(outcome: .removed)
    let mayFail = method?.isOptional ?? false || !wishes.lane.isHere
    guard let claim = proxy.claim(registration, wishes, mayFail: mayFail) else { return removed }
    if wishes.lane.isHere {
      guard claim.begins(registration) else { return removed }
      let turn = await sendHereAwaiting(to: target, method)
      claim.settle(registration, turn.outcome)
      return turn
    }
    let ticket = DeliveryTicket(of: selector, to: registration, .awaiting(AwaitedStep.current))
    registration.carrier.send(
      Parcel(later(suspends: method?.isAwaited ?? true), to: registration, claim, ticket))
    return ticket.turn(
      await ticket.conclude(within: wishes.lane.deadline, endsWithTask: invocation.endsWithTask))
  }
}
