// SPDX-License-Identifier: Apache-2.0
// Methods over any types with up to four arguments, with one initializer for each number of them.

extension Implementation {
  /// Makes a method without arguments, over any types.
  ///
  /// - Throws: ``InvocationError`` if `encoding` is invalid or does not fit the closure.
  @inlinable
  public convenience init<Receiver: AnyObject, Value>(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value>(anyMethod: encoding)
    let twin = try Self.droppingResult(of: fitted, encoding) { (receiver: Receiver) in
      _ = try body(receiver)
    }
    self.init(
      fitted, receiver: Receiver.self, withoutResult: twin,
      unsafe LentBody.of(fitted, body))
  }

  /// Makes a method with one argument, over any types.
  ///
  /// - Throws: ``InvocationError`` if `encoding` is invalid or does not fit the closure.
  @inlinable
  public convenience init<Receiver: AnyObject, Value, A>(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver, A) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A>(anyMethod: encoding)
    let twin = try Self.droppingResult(of: fitted, encoding) { (receiver: Receiver, a: A) in
      _ = try body(receiver, a)
    }
    self.init(
      fitted, receiver: Receiver.self, withoutResult: twin,
      unsafe LentBody.of(fitted, body))
  }

  /// Makes a method with two arguments, over any types.
  ///
  /// - Throws: ``InvocationError`` if `encoding` is invalid or does not fit the closure.
  @inlinable
  public convenience init<Receiver: AnyObject, Value, A, B>(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver, A, B) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A, B>(anyMethod: encoding)
    let twin = try Self.droppingResult(of: fitted, encoding) { (receiver: Receiver, a: A, b: B) in
      _ = try body(receiver, a, b)
    }
    self.init(
      fitted, receiver: Receiver.self, withoutResult: twin,
      unsafe LentBody.of(fitted, body))
  }

  /// Makes a method with three arguments, over any types.
  ///
  /// - Throws: ``InvocationError`` if `encoding` is invalid or does not fit the closure.
  @inlinable
  public convenience init<Receiver: AnyObject, Value, A, B, C>(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver, A, B, C) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A, B, C>(anyMethod: encoding)
    let twin = try Self.droppingResult(of: fitted, encoding) {
      (receiver: Receiver, a: A, b: B, c: C) in
      _ = try body(receiver, a, b, c)
    }
    self.init(
      fitted, receiver: Receiver.self, withoutResult: twin,
      unsafe LentBody.of(fitted, body))
  }

  /// Makes a method with four arguments, over any types.
  ///
  /// - Throws: ``InvocationError`` if `encoding` is invalid or does not fit the closure.
  @inlinable
  public convenience init<Receiver: AnyObject, Value, A, B, C, D>(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver, A, B, C, D) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A, B, C, D>(anyMethod: encoding)
    let twin = try Self.droppingResult(of: fitted, encoding) {
      (receiver: Receiver, a: A, b: B, c: C, d: D) in
      _ = try body(receiver, a, b, c, d)
    }
    self.init(
      fitted, receiver: Receiver.self, withoutResult: twin,
      unsafe LentBody.of(fitted, body))
  }
}
