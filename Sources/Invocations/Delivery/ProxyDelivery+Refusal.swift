// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

// Requirements that cannot be messages, at targets that only take messages.
extension ProxyDelivery {
  /// The error of a requirement that cannot be a message, for a target that takes messages; nil for
  /// one that does not get this message either.
  package mutating func refusal(_ error: (ListedTarget?) -> any Error) -> (any Error)? {
    guard let place = unsafe place else { return error(nil) }
    let member = unsafe member(at: place)
    if member.isRemoved || member.isBlocked { return nil }
    if !member.isAlive {
      tally.metDead = true
      return nil
    }
    // A target that was added for its selectors has no method for a requirement without a
    // message. A proxy would have passed a message on.
    let isStranger = member.witnesses == nil && !(member.type is any MessageForwarding.Type)
    return isStranger ? nil : error(member)
  }
}
