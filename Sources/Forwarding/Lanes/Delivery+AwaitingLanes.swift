// SPDX-License-Identifier: Apache-2.0
import Dispatch

// Turns that are awaited, in any lane.
extension Delivery {
  /// Sends to one target, and awaits the answer.
  nonisolated(nonsending) func turnAwaiting(of registration: Registration) async -> Turn {
    switch find(registration) {
    case .over(let turn): return turn
    case .target(let target, let method):
      var turn: Turn
      if registration.isSpecial {
        turn =
          switch claim(registration, method, isAwaited: true) {
          case .over(let turn): turn
          case .lane(let lane, let end):
            await sendAwaiting(to: target, method, registration, lane, end)
          }
      } else {
        turn = await sendHereAwaiting(to: target, method)
      }
      turn.type = registration.targetType
      return turn
    }
  }

  /// Calls a target without a lane, and awaits the end; see ``sendHere(to:_:)``.
  nonisolated(nonsending) func sendHereAwaiting(
    to target: AnyObject, _ method: Implementation?
  ) async -> Turn {
    guard method?.isAwaited ?? true else { return sendHere(to: target, method) }
    do {
      let copy = invocation.carryingCopy()
      if let method {
        try await copy.performAwaiting(method, on: target)
        return Turn(outcome: .answered, call: copy)
      }
      // A target that forwards may retain the copy, and modify it later.
      defer { copy.keepArguments() }
      try await copy.sendAwaiting(to: target)
      return Turn(outcome: .answered, call: copy.unsharedAnswer())
    } catch {
      return Turn(outcome: DeliveryOutcome(error))
    }
  }

  nonisolated(nonsending) func sendAwaiting(
    to target: AnyObject, _ method: Implementation?, _ registration: Registration,
    _ lane: DeliveryLane, _ end: End
  ) async -> Turn {
    settle(
      await sendUnsettled(to: target, method, registration, lane, end), registration, end)
  }

  private nonisolated(nonsending) func sendUnsettled(
    to target: AnyObject, _ method: Implementation?, _ registration: Registration,
    _ lane: DeliveryLane, _ end: End
  ) async -> Turn {
    var deadline: DispatchTimeInterval?
    switch lane.kind {
    case .caller: return await sendHereAwaiting(to: target, method)
    case .queue(_, isResultIgnored: true), .actor(_, isResultIgnored: true),
      .executor(_, isResultIgnored: true):
      return sendLater(standalone(registration, end, .nobody), method, registration)
    case .queue, .actor, .executor: break
    case .blocking(let queue, let limit):
      if queue.mark.isCurrent { return await sendHereAwaiting(to: target, method) }
      deadline = limit
    }
    let job = standalone(registration, end, .awaiting(AwaitedStep.current))
    job.start(in: registration.outlet, suspends: method?.isAwaited ?? true)
    let outcome = await job.outcome(within: deadline, endsWithTask: invocation.endsWithTask)
    return Turn(
      outcome: outcome, ticket: job.ticket, call: outcome.isAnswer ? job.answer : nil)
  }
}

extension DeliveryJob {
  /// Awaits the outcome. Cancels the job at the deadline. If `endsWithTask` is true, the
  /// cancellation of the awaiting task cancels the job too.
  fileprivate nonisolated(nonsending) func outcome(
    within deadline: DispatchTimeInterval?, endsWithTask: Bool
  ) async -> DeliveryOutcome {
    let number = deadline.map { deadline in
      Deadlines.shared.add(in: deadline) { [weak self] in
        guard let self, ticket.resolve(.timedOut) else { return }
        cancel()
      }
    }
    defer { if let number { Deadlines.shared.cancel(number) } }
    if !endsWithTask { return await ticket.value() }
    return await withTaskCancellationHandler {
      await ticket.value()
    } onCancel: {
      self.cancel()
    }
  }
}
