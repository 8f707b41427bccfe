// SPDX-License-Identifier: Apache-2.0
extension OutboundCalls {
  /// The settings that a proxy has for its calls.
  package struct Settings: Sendable {
    package var deadline: Duration
    package var inFlight = 1000
    package var interrupted: (@Sendable () -> Void)?
    package var invalidated: (@Sendable () -> Void)?
  }
}
