// SPDX-License-Identifier: Apache-2.0
public import Invocations

/// Sends the messages of requirements, whose arguments are borrowed from the caller, and not copied, and
/// helps the code of proxies otherwise.
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

  /// Calls a mutating requirement of an object. The object itself stays the same.
  @inlinable
  @inline(__always)
  public static func changing<Target, Result, Failure: Error>(
    _ target: Target, _ call: (inout Target) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var target = target
    return try call(&target)
  }

  /// Whether a target is an object rather than a value.
  @inlinable
  public static func isObject<Target>(_ target: Target) -> Bool {
    type(of: target as Any) is AnyClass
  }

  /// Returns a target as an object: the target itself, or a box for a value.
  public static func object<Target, Object>(
    _ target: Target, as type: Object.Type, _ box: (Target) -> Object
  ) -> Object {
    guard isObject(target), let object = target as? Object else { return box(target) }
    return object
  }

  /// The selector of a requirement that cannot be a message, which errors show as its protocol writes
  /// it.
  public static func selector(_ selector: Selector, name: String) -> Selector {
    RequirementNames.note(name, for: selector)
    return selector
  }

  /// Refuses a requirement that cannot be sent as a message to a target that is reached by messages
  /// only.
  ///
  /// - Throws: ``ForwardingError/notAMessage(_:because:)``, unless the target does not get this
  ///   message either.
  @discardableResult
  public static func refuse<Result>(
    _ selector: Selector, because reason: String, through delivery: inout ProxyDelivery
  ) throws -> Result? {
    try refuse(selector, through: &delivery) { .notAMessage($0, because: reason) }
  }

  static func refuse<Result>(
    _ selector: Selector, through delivery: inout ProxyDelivery,
    _ error: (ForwardingError.Context) -> ForwardingError
  ) throws -> Result? {
    try delivery.refuse { target in
      error(target.map { .init(selector, to: $0) } ?? .init(selector: selector, target: nil))
    }
    return nil
  }
}
