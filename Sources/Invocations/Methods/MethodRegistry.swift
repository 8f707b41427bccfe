// SPDX-License-Identifier: Apache-2.0
/// A place to register methods: the table of a class, or the declarations of a class.
///
/// All registries have the same function and the same rule: registering a selector twice is
/// refused, unless `replacing` is true.
///
/// ```swift
/// try MethodTable.of(Account.self).register("deposit:") { (account: Account, amount: Int32) in
///   account.balance += amount
/// }
/// try MethodTable.of(Account.self).register("close", Account.close)
/// MethodTable.of(Account.self).selectors  // [close, deposit:]
/// ```
public protocol MethodRegistry {
  /// The error of a failed registration.
  associatedtype Failure: Error

  /// Registers the method that `make` makes. All other functions of the protocol call this one.
  ///
  /// - Parameters:
  ///   - receiver: the class that the method takes objects of; nil if it takes any object.
  ///   - replacing: whether an existing method is replaced; if false, registering is refused.
  /// - Throws: `Failure` if the method cannot be made or registered.
  func register(
    _ selector: Selector, for receiver: AnyClass?, replacing: Bool,
    making make: () throws(InvocationError) -> Implementation
  ) throws(Failure)
}

extension MethodRegistry {
  /// Registers an implementation.
  ///
  /// - Throws: `Failure` if the method cannot be registered.
  @inlinable
  public func register(
    _ selector: Selector, replacing: Bool = false, _ implementation: Implementation
  ) throws(Failure) {
    try register(selector, for: implementation.receiver, replacing: replacing) {
      () throws(InvocationError) in implementation
    }
  }

  /// Registers a closure over any types, which takes the receiver in front of the arguments. Its
  /// types must fit `encoding`, or spell one if it is nil.
  ///
  /// - Throws: ``MethodRegistry/Failure`` if the method cannot be made or registered.
  @inlinable
  public func register<Receiver: AnyObject, Value, each Argument>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, method: body)
    }
  }

  /// Registers a method of a class, over any types: `ChatWindow.show`.
  ///
  /// - Throws: ``MethodRegistry/Failure`` if the method cannot be made or registered.
  @inlinable
  public func register<Receiver: AnyObject, Value, each Argument>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ method: @escaping @Sendable (Receiver) -> (repeat each Argument) throws -> Value
  ) throws(Failure) {
    try register(selector, replacing: replacing, encoding: encoding) {
      (receiver: Receiver, arguments: repeat each Argument) in
      try method(receiver)(repeat each arguments)
    }
  }
}
