// SPDX-License-Identifier: Apache-2.0

/// How a call uses up a once-only registration.
enum Claim {
  /// Not at all.
  case never
  /// The registration has ended with the call, which alone retains it.
  case ended(Registration)
  /// The call claims the registration when it is made, because it may not be. It ends if the target
  /// answers.
  case atCall
}

extension MulticastProxy {
  /// Claims a registration for a call, if it is a once-only one. Returns nil if another call has it.
  ///
  /// - Parameter mayFail: whether the call may leave the registration unused, because the target leaves
  ///   out the requirement, or the sender stops waiting. Others then wait for their turn behind it.
  func claim(
    _ registration: Registration, _ wishes: Registration.Wishes, mayFail: Bool
  ) -> Claim? {
    guard wishes.isOnce else { return .never }
    if mayFail { registration.claimAtCall() }
    return registration.isClaimedAtCall ? .atCall : claimAndEnd(registration)
  }

  /// Claims and ends a once-only registration for a call. Returns nil if another call has it.
  ///
  /// Under one lock: a target that is added again takes the place of a claimed registration, whose
  /// call would then find it removed.
  func claimAndEnd(_ registration: Registration) -> Claim? {
    if registration.isClaimed { return nil }
    let (claim, _) = change { registrations, list -> (Claim?, [Registration]) in
      guard registration.wishes.isOnce else { return (.never, []) }
      guard registration.claim() else { return (nil, []) }
      let ended = registrations.remove([registration], from: list)
      return (ended.isEmpty ? .never : .ended(registration), ended)
    }
    return claim
  }
}

extension Claim {
  /// Whether a call may be made now; false if another call has the registration.
  func begins(_ registration: Registration) -> Bool {
    if case .atCall = self { registration.claim() } else { true }
  }

  /// Ends the registration that a call has claimed, if its target has answered, or threw. Otherwise
  /// the next call may claim it.
  func settle(_ registration: Registration, _ outcome: DeliveryOutcome) {
    guard case .atCall = self else { return }
    switch outcome {
    case .noMethod, .dead, .removed: registration.unclaim()
    default: registration.details?.owner?.endOnce(registration)
    }
  }
}
