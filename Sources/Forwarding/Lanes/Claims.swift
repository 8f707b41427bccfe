// SPDX-License-Identifier: Apache-2.0

/// When a registration ends because of a call.
enum CallEnd {
  /// Not at all.
  case never
  /// The once-only registration has ended.
  case before
  /// The call has claimed the once-only registration, which ends if the target answers: it may
  /// leave out the requirement.
  case after
  /// The same, but the call claims the registration when it arrives on another thread.
  case atArrival
}

extension MulticastProxy {
  /// Claims a registration for a call, if it is a once-only one. Returns nil if another call has it.
  func claim(
    _ registration: Registration, _ wishes: Registration.Wishes, mayLeaveOut: Bool
  ) -> CallEnd? {
    guard wishes.isOnce else { return .never }
    if wishes.lane.isLater {
      // Behind a call that may leave the registration unused, others wait for their turn.
      if mayLeaveOut { registration.claimAtArrival() }
      if registration.isClaimedAtArrival { return .atArrival }
    }
    if mayLeaveOut { return registration.claim() ? .after : nil }
    return claimAndEnd(registration)
  }

  /// Claims and ends a once-only registration for a call. Returns nil if another call has it.
  ///
  /// Under one lock: a target that is added again takes the place of a claimed registration, whose
  /// call would then find it removed.
  func claimAndEnd(_ registration: Registration) -> CallEnd? {
    if registration.isClaimed { return nil }
    let (end, _) = change { registrations, list -> (CallEnd?, [Registration]) in
      guard registration.wishes.isOnce else { return (.never, []) }
      guard registration.claim() else { return (nil, []) }
      let ended = registrations.remove([registration], from: list)
      return (ended.isEmpty ? .never : .before, ended)
    }
    return end
  }

  /// Ends a once-only registration that a call has claimed, if its target has answered, or threw.
  /// Otherwise the next call may claim it.
  func settle(_ registration: Registration, _ outcome: DeliveryOutcome) {
    switch outcome {
    case .noMethod, .dead, .removed: registration.unclaim()
    default: endOnce(registration)
    }
  }
}
