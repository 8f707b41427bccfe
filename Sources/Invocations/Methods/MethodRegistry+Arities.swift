// As many overloads as ``Implementation`` has, so that closures written in place are inlined.

extension MethodRegistry {
  /// Registers a closure of no arguments.
  @inlinable
  public func register<Receiver: AnyObject, Value: CallValue>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver) throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, method: body)
    }
  }

  /// Registers a closure of no arguments, without a result.
  @inlinable
  public func register<Receiver: AnyObject>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver) throws -> Void
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, method: body)
    }
  }

  /// Registers a closure of one argument.
  @inlinable
  public func register<Receiver: AnyObject, Value: CallValue, A: CallValue>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A) throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, method: body)
    }
  }

  /// Registers a closure of one argument, without a result.
  @inlinable
  public func register<Receiver: AnyObject, A: CallValue>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A) throws -> Void
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, method: body)
    }
  }

  /// Registers a closure of two arguments.
  @inlinable
  public func register<Receiver: AnyObject, Value: CallValue, A: CallValue, B: CallValue>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A, B) throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, method: body)
    }
  }

  /// Registers a closure of two arguments, without a result.
  @inlinable
  public func register<Receiver: AnyObject, A: CallValue, B: CallValue>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A, B) throws -> Void
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, method: body)
    }
  }

  /// Registers a closure of three arguments.
  @inlinable
  public func register<
    Receiver: AnyObject, Value: CallValue, A: CallValue, B: CallValue, C: CallValue
  >(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A, B, C) throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, method: body)
    }
  }

  /// Registers a closure of three arguments, without a result.
  @inlinable
  public func register<Receiver: AnyObject, A: CallValue, B: CallValue, C: CallValue>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A, B, C) throws -> Void
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, method: body)
    }
  }
}
