// SPDX-License-Identifier: Apache-2.0
package import Invocations

// Turns in lanes, of messages and of requirements.
extension MulticastProxy {
  package func call(
    _ member: ListedTarget, _ selector: Selector, mayLeaveOut: Bool,
    _ isAnswered: () throws -> Bool, later: () -> QueuedCall?
  ) -> LaneTurn {
    guard let details = member.details else { return .message }
    func here() -> DeliveryOutcome {
      do { return try isAnswered() ? .answered : .noMethod } catch { return DeliveryOutcome(error) }
    }
    var outcome: DeliveryOutcome?
    switch member.way {
    case .called: return .message
    case .queued:
      guard let call = later() else { return .message }
      member.markReached()
      details.carrier.send(Parcel(call, to: member))
      return .queued
    case .awaited:
      member.markReached()
      _ = details.run { outcome = here() }
    case .special:
      let wishes = wishes(of: member)
      var call: QueuedCall?
      if wishes.lane.outlivesSender {
        guard let made = later() else { return .message }
        call = made
      }
      member.markReached()
      let turn = turn(of: member, wishes, mayLeaveOut: mayLeaveOut, call) {
        Delivery.Turn(outcome: here())
      }
      outcome = turn?.outcome
    }
    switch outcome ?? .wouldDeadlock(selector, member) {
    case .answered: return .answered
    case .queued: return .queued
    case .failed(let error): return .failed(error)
    default: return .over
    }
  }

  /// Takes the turn of a registration with options that need more than a call: here, on the queue
  /// that this thread waits for, or later.
  ///
  /// - Parameters:
  ///   - wishes: the options, read once for the whole turn: other threads may change them meanwhile.
  ///   - later: the call, if it may run after its sender has gone on.
  ///   - isReported: whether the sender wants a ticket.
  ///   - here: makes the call on the current thread.
  /// - Returns: nil, without a call, if the wait for the queue would never end.
  func turn(
    of registration: Registration, _ wishes: Registration.Wishes, mayLeaveOut: Bool,
    _ later: QueuedCall?, isReported: Bool = false, _ here: () -> Delivery.Turn
  ) -> Delivery.Turn? {
    let removed = Delivery.Turn(outcome: .removed)
    // A wait is refused before the call claims a once-only registration.
    guard let later else {
      var turn = removed
      let isRun = registration.details?.run {
        guard let claim = claim(registration, wishes, mayFail: mayLeaveOut),
          claim.begins(registration)
        else { return }
        turn = here()
        claim.settle(registration, turn.outcome)
      }
      return isRun ?? true ? turn : nil
    }
    var ticket: DeliveryTicket?
    if let marked = registration.carrier.marked, wishes.lane.waits {
      guard let chain = BlockingChain.waiting(for: marked.mark) else { return nil }
      ticket = DeliveryTicket(of: later.selector, to: registration, .blocking(chain))
    } else if isReported {
      ticket = DeliveryTicket(of: later.selector, to: registration, .nobody)
    }
    let mayFail = mayLeaveOut || wishes.lane.waits
    guard let claim = claim(registration, wishes, mayFail: mayFail) else { return removed }
    registration.carrier.send(Parcel(later, to: registration, claim, ticket))
    guard let ticket else { return Delivery.Turn(outcome: .queued) }
    return ticket.turn(wishes.lane.deadline.map { ticket.conclude(within: $0) } ?? .queued)
  }
}

extension DeliveryOutcome {
  /// The outcome of a call whose wait would never end.
  static func wouldDeadlock(_ selector: Selector, _ registration: Registration) -> DeliveryOutcome {
    .failed(ForwardingError.wouldDeadlock(.init(selector, to: registration)))
  }
}
