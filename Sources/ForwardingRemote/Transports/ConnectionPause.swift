import Dispatch

/// How long to wait before the next attempt to connect: from 10 ms on, twice as long each time, up to a second, until a
/// connection was of use. Somewhere between half of that and all of it, as many may have lost the same process.
struct ConnectionPause {
  private static let (least, most) = (10_000_000, 1_000_000_000)

  private var next = Self.least

  /// The pause after a connection that has carried something, or after one, or an attempt, that has not.
  mutating func after(wasOfUse: Bool) -> DispatchTimeInterval {
    if wasOfUse { next = Self.least }
    defer { next = min(2 * next, Self.most) }
    return .nanoseconds(Int.random(in: next / 2...next))
  }
}
