// SPDX-License-Identifier: Apache-2.0
import Invocations

extension OutboundCalls {
  /// The settings that a proxy has for its calls.
  package struct Settings: Sendable {
    package var deadline: Duration
    package var inFlight = 1000
    package var interrupted: (@Sendable () -> Void)?
    package var invalidated: (@Sendable () -> Void)?

    init(deadline: Duration) { self.deadline = deadline }

    /// The deadline in nanoseconds, within its bounds.
    var pause: Int { Int(Deadlines.bounded(deadline) / .nanoseconds(1)) }
  }
}
