// Methods over any types of up to four arguments, once for each number of them.

extension Implementation {
  /// A method of no arguments, over any types.
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

  /// A method of one argument, over any types.
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

  /// A method of two arguments, over any types.
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

  /// A method of three arguments, over any types.
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

  /// A method of four arguments, over any types.
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
