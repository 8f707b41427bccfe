// SPDX-License-Identifier: Apache-2.0
package import Invocations

// Turns in lanes without a report.
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
    // The options are read once for the whole turn: other threads may change them meanwhile.
    let wishes = wishes(of: registration)
    let lane = wishes.lane
    var parcel: Parcel?
    if lane.outlivesSender {
      guard let call = later() else { return .message }
      guard let waiting = registration.waiting(in: lane) else {
        return .failed(ForwardingError.wouldDeadlock(.init(selector, to: registration)))
      }
      parcel = Parcel(.call(call), to: registration, for: self, waiting)
    }
    registration.markReached()
    guard let end = claim(registration, wishes, mayLeaveOut: mayLeaveOut) else { return .over }
    var called: DeliveryOutcome?
    if let parcel {
      parcel.start(end, of: registration, suspends: false)
      called = lane.deadline.map { parcel.outcome(within: $0) } ?? .queued
    } else {
      registration.callHere(in: lane, selector) {
        do { called = try isAnswered() ? .answered : .noMethod } catch { called = .failed(error) }
      }
    }
    let outcome = called ?? .wouldDeadlock(selector, registration)
    if case .after = end { settle(registration, outcome) }
    switch outcome {
    case .answered: return .answered
    case .queued: return .queued
    default: return outcome.error.map { .failed($0) } ?? .over
    }
  }
}

extension DeliveryOutcome {
  /// The outcome of a call whose wait would never end.
  static func wouldDeadlock(_ selector: Selector, _ registration: Registration) -> DeliveryOutcome {
    .failed(ForwardingError.wouldDeadlock(.init(selector, to: registration)))
  }
}

extension Registration {
  /// Runs `body`, which calls the target: here, or on the queue while this thread waits. Does not run
  /// it if the wait would never end.
  func callHere(in lane: DeliveryLane, _ selector: Selector, _ body: () -> Void) {
    if lane.waits, let notes { _ = notes.lane.wait(for: self, selector, body) } else { body() }
  }

  /// How this thread waits for a call that may run after it has gone on; nil if the wait would never
  /// end.
  func waiting(in lane: DeliveryLane) -> Parcel.Waiting? {
    guard lane.waits, case .queue(let marked) = carrier else { return .nobody }
    return BlockingChain.waiting(for: marked.mark).map { .blocking($0) }
  }
}
