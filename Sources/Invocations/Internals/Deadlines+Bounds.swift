// SPDX-License-Identifier: Apache-2.0
package import Dispatch

extension Deadlines {
  /// A duration as a time to wait: zero if it is negative, and at most about a century. A clock traps
  /// where its time and a duration have no sum, and so does `components` where there are too many
  /// seconds.
  package static func bounded(_ limit: Duration) -> Duration {
    min(max(limit, .zero), .seconds(3_200_000_000))
  }

  /// The time after a duration from now, which is bounded.
  package static func time(after limit: Duration) -> DispatchTime {
    let (seconds, attoseconds) = bounded(limit).components
    return .now() + .nanoseconds(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
  }
}
