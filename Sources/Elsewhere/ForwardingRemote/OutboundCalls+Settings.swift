// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

extension OutboundCalls {
  /// The settings that a proxy has for its calls.
  package struct Settings: Sendable {
    package var deadline: Duration { didSet { pause = Self.pause(deadline) } }
    /// The deadline as an interval, which is converted here and not by each call.
    private(set) var pause: DispatchTimeInterval
    package var inFlight = 1000
    package var interrupted: (@Sendable () -> Void)?
    package var invalidated: (@Sendable () -> Void)?

    init(deadline: Duration) {
      self.deadline = deadline
      pause = Self.pause(deadline)
    }

    private static func pause(_ limit: Duration) -> DispatchTimeInterval {
      .nanoseconds(Int(Deadlines.bounded(limit) / .nanoseconds(1)))
    }
  }
}
