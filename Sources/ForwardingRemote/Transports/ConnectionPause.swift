// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// The pause before the next attempt to connect: 10 ms at first, doubled each time up to a second,
/// until a connection was of use for a second. The actual pause is random, between half of that and
/// all of it, as many processes may have lost the same peer.
struct ConnectionPause {
  private static let least = 10_000_000
  /// The longest pause, and how long a connection must be of use to reset the pause, in
  /// nanoseconds.
  static let most = 1_000_000_000

  private var next = Self.least

  /// Returns the next pause. It starts from 10 ms again if the last connection was of use for long
  /// enough.
  mutating func after(wasOfUse: Bool) -> DispatchTimeInterval {
    if wasOfUse { next = Self.least }
    defer { next = min(2 * next, Self.most) }
    return .nanoseconds(Int.random(in: next / 2...next))
  }
}
