import Dispatch

/// How long to wait before the next attempt to connect: from 10 ms on, twice as long each time, up to a second, until a
/// connection was of use for a second. Somewhere between half of that and all of it, as many may have lost the same process.
struct ConnectionPause {
  private static let least = 10_000_000
  /// The longest pause, and how long a connection has to be of use, in nanoseconds.
  static let most = 1_000_000_000

  private var next = Self.least

  /// The pause after a connection that was of use for that long, or after one, or an attempt, that was not.
  mutating func after(wasOfUse: Bool) -> DispatchTimeInterval {
    if wasOfUse { next = Self.least }
    defer { next = min(2 * next, Self.most) }
    return .nanoseconds(Int.random(in: next / 2...next))
  }
}
