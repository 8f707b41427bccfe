// SPDX-License-Identifier: Apache-2.0
/// Sends the message of a requirement. The arguments are borrowed from the caller, and not copied.
///
/// Only the code that `@Forwardable` writes needs it.
///
/// ```swift
/// let close = Requirement<Void, Int>("close:")
/// let everyone = MulticastProxy()
/// var delivery = ProxyDelivery(to: everyone)
/// try _ProxyMessage.send(close, 5, through: &delivery)
/// ```
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

  /// Sends a message without arguments.
  ///
  /// - Throws: as for any number of arguments.
  @inlinable
  @discardableResult
  public static func send<Result>(
    _ requirement: Requirement<Result>, through delivery: inout ProxyDelivery
  ) throws -> Result? {
    guard let prepared = requirement.prepared else { throw requirement.missing }
    return try prepared.send(as: requirement.selector, through: &delivery)
  }

  /// Sends a message with one argument.
  ///
  /// - Throws: as for any number of arguments.
  @inlinable
  @discardableResult
  public static func send<Result, A>(
    _ requirement: Requirement<Result, A>, _ a: A, through delivery: inout ProxyDelivery
  ) throws -> Result? {
    guard let prepared = requirement.prepared else { throw requirement.missing }
    return try prepared.send(a, as: requirement.selector, through: &delivery)
  }

  /// Sends a message with two arguments.
  ///
  /// - Throws: as for any number of arguments.
  @inlinable
  @discardableResult
  public static func send<Result, A, B>(
    _ requirement: Requirement<Result, A, B>, _ a: A, _ b: B, through delivery: inout ProxyDelivery
  ) throws -> Result? {
    guard let prepared = requirement.prepared else { throw requirement.missing }
    return try prepared.send(a, b, as: requirement.selector, through: &delivery)
  }

  /// Sends a message with three arguments.
  ///
  /// - Throws: as for any number of arguments.
  @inlinable
  @discardableResult
  public static func send<Result, A, B, C>(
    _ requirement: Requirement<Result, A, B, C>, _ a: A, _ b: B, _ c: C,
    through delivery: inout ProxyDelivery
  ) throws -> Result? {
    guard let prepared = requirement.prepared else { throw requirement.missing }
    return try prepared.send(a, b, c, as: requirement.selector, through: &delivery)
  }

  /// Sends a message with four arguments.
  ///
  /// - Throws: as for any number of arguments.
  @inlinable
  @discardableResult
  public static func send<Result, A, B, C, D>(
    _ requirement: Requirement<Result, A, B, C, D>, _ a: A, _ b: B, _ c: C, _ d: D,
    through delivery: inout ProxyDelivery
  ) throws -> Result? {
    guard let prepared = requirement.prepared else { throw requirement.missing }
    return try prepared.send(a, b, c, d, as: requirement.selector, through: &delivery)
  }
}
