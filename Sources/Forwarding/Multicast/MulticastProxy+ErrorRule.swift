// SPDX-License-Identifier: Apache-2.0
extension MulticastProxy {
  /// What happens to the remaining targets when one throws.
  public enum ErrorRule: Sendable {
    /// They are called; then the sender gets the first error.
    case afterAll
    /// They are not called: the first error ends the delivery.
    case atOnce
  }

  /// What happens to the remaining targets when one throws, or cannot be called. The initial value
  /// is ``ErrorRule/afterAll``. An error on a queue that the sender does not wait for ends nothing,
  /// and so does one in a delivery to all targets at once.
  public var errorRule: ErrorRule {
    get { targetList.stopsAtFirstError ? .atOnce : .afterAll }
    set { targetList.stopsAtFirstError = newValue == .atOnce }
  }
}
