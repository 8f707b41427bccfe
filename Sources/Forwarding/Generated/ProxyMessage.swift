// SPDX-License-Identifier: Apache-2.0
public import Invocations

/// Sends the message of a requirement. The arguments are borrowed from the caller, and not copied.
///
/// Only the code that `@Forwardable` writes needs it.
@_documentation(visibility: internal)
public enum _ProxyMessage {
  /// Sends a message with any number of arguments. Returns nil if the target does not answer.
  ///
  /// - Throws: an ``InvocationError`` if the types of the message cannot be passed, or the error of
  ///   a target or of the proxy.
  @inlinable
  @discardableResult
  public static func send<Result, each Argument>(
    _ requirement: Requirement<Result, repeat each Argument>, _ arguments: repeat each Argument,
    through delivery: inout ProxyDelivery
  ) throws -> Result? {
    guard let prepared = requirement.prepared else { throw requirement.missing }
    return try prepared.send(
      tuple: (repeat each arguments), as: requirement.selector, through: &delivery)
  }
}
