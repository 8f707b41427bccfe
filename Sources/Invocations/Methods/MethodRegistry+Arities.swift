// SPDX-License-Identifier: Apache-2.0
// One overload for each number of arguments, like those of ``Implementation``, so that closures
// written in place are inlined.

extension MethodRegistry {
  /// Registers a method without arguments, over any types.
  ///
  /// - Throws: ``MethodRegistry/Failure`` if the method cannot be made or registered.
  @inlinable
  public func register<Receiver: AnyObject, Value>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver) throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, method: body)
    }
  }

  /// Registers a method with one argument, over any types.
  ///
  /// - Throws: ``MethodRegistry/Failure`` if the method cannot be made or registered.
  @inlinable
  public func register<Receiver: AnyObject, Value, A>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A) throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, method: body)
    }
  }

  /// Registers a method with two arguments, over any types.
  ///
  /// - Throws: ``MethodRegistry/Failure`` if the method cannot be made or registered.
  @inlinable
  public func register<
    Receiver: AnyObject, Value, A, B
  >(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A, B) throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, method: body)
    }
  }

  /// Registers a method with three arguments, over any types.
  ///
  /// - Throws: ``MethodRegistry/Failure`` if the method cannot be made or registered.
  @inlinable
  public func register<
    Receiver: AnyObject, Value, A, B,
    C
  >(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A, B, C) throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, method: body)
    }
  }
}
