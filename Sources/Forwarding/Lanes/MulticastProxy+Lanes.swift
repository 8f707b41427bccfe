// SPDX-License-Identifier: Apache-2.0
package import Invocations

// Turns in lanes, of messages and of requirements.
extension MulticastProxy {
  /// Sends a message to a target whose only option is a queue, as one object with its values; false,
  /// without having done anything, if that is not enough. All other messages are sent by `Delivery`.
  func deliverQuickly(
    _ call: Call, to registration: Registration, _ tally: inout TargetList.Tally
  ) -> Bool {
    guard case .queued = registration.way, case .queue(let marked) = registration.carrier,
      registration.isAlive, let carried = call.carried(to: registration)
    else { return false }
    registration.markReached()
    carried.travel(on: marked.system)
    tally.hasQueued = true
    return true
  }

  package func callSpecially(
    _ registration: ListedTarget, _ selector: Selector, mayLeaveOut: Bool,
    _ isAnswered: () throws -> Bool, later: () -> LaterCall?
  ) -> LaneTurn {
    if registration.isRemoved || registration.isBlocked { return .over }
    let wishes = wishes(of: registration)
    var content: Parcel.Content?
    if wishes.lane.outlivesSender {
      guard let call = later() else { return .message }
      content = .call(call)
    }
    registration.markReached()
    let turn = turn(of: registration, wishes, mayLeaveOut: mayLeaveOut, content) {
      do { return Delivery.Turn(outcome: try isAnswered() ? .answered : .noMethod) } catch {
        return Delivery.Turn(outcome: .failed(error))
      }
    }
    let outcome = turn?.outcome ?? .wouldDeadlock(selector, registration)
    switch outcome {
    case .answered: return .answered
    case .queued: return .queued
    default: return outcome.error.map { .failed($0) } ?? .over
    }
  }

  /// Takes the turn of a registration with options that need more than a call: here, on the queue
  /// that this thread waits for, or later.
  ///
  /// - Parameters:
  ///   - wishes: the options, read once for the whole turn: other threads may change them meanwhile.
  ///   - content: the call, if it may run after its sender has gone on.
  ///   - here: makes the call on the current thread.
  /// - Returns: nil, without a call, if the wait for the queue would never end.
  func turn(
    of registration: Registration, _ wishes: Registration.Wishes, mayLeaveOut: Bool,
    suspends: Bool = false, _ content: Parcel.Content?, _ here: () -> Delivery.Turn
  ) -> Delivery.Turn? {
    // Refused before the call claims a once-only registration.
    guard let waiting = registration.waiting(in: wishes.lane) else { return nil }
    let parcel = content.map { Parcel($0, to: registration, for: self, waiting) }
    guard let end = claim(registration, wishes, mayLeaveOut: mayLeaveOut) else {
      return Delivery.Turn(outcome: .removed)
    }
    var turn = Delivery.Turn(outcome: .notCalled)
    if let parcel {
      parcel.start(end, of: registration, suspends: suspends)
      turn = parcel.turn(wishes.lane.deadline.map { parcel.outcome(within: $0) } ?? .queued)
    } else {
      registration.callHere(in: wishes.lane) { turn = here() }
    }
    if case .after = end { settle(registration, turn.outcome) }
    return turn
  }
}

extension DeliveryOutcome {
  /// The outcome of a call whose wait would never end.
  static func wouldDeadlock(_ selector: Selector, _ registration: Registration) -> DeliveryOutcome {
    .failed(ForwardingError.wouldDeadlock(.init(selector, to: registration)))
  }
}

extension Registration {
  /// Runs `body`, which calls the target: here, or on the queue while this thread waits, which
  /// ``waiting(in:)`` has allowed.
  func callHere(in lane: DeliveryLane, _ body: () -> Void) {
    if lane.waits, let details { _ = details.run(body) } else { body() }
  }

  /// How this thread waits for a call in a lane; nil if the wait would never end.
  func waiting(in lane: DeliveryLane) -> Parcel.Waiting? {
    guard lane.waits, !lane.isHere, case .queue(let marked) = carrier else { return .nobody }
    return BlockingChain.waiting(for: marked.mark).map { .blocking($0) }
  }
}
