// As many overloads as ``Implementation`` has, so that closures written in place are inlined.

extension MethodTable {
  /// Registers a Swift closure for a selector, in place of any method the class itself had.
  @inlinable
  public func register<Receiver: AnyObject, Value: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver) throws -> Value
  ) throws(InvocationError) {
    try register(selector, Implementation(encoding: encoding, method: body))
  }

  /// Registers a Swift closure without a result.
  @inlinable
  public func register<Receiver: AnyObject>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver) throws -> Void
  ) throws(InvocationError) {
    try register(selector, Implementation(encoding: encoding, method: body))
  }

  /// Registers a Swift closure for a selector, in place of any method the class itself had.
  @inlinable
  public func register<Receiver: AnyObject, Value: CallValue, A: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A) throws -> Value
  ) throws(InvocationError) {
    try register(selector, Implementation(encoding: encoding, method: body))
  }

  /// Registers a Swift closure without a result.
  @inlinable
  public func register<Receiver: AnyObject, A: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A) throws -> Void
  ) throws(InvocationError) {
    try register(selector, Implementation(encoding: encoding, method: body))
  }

  /// Registers a Swift closure for a selector, in place of any method the class itself had.
  @inlinable
  public func register<Receiver: AnyObject, Value: CallValue, A: CallValue, B: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A, B) throws -> Value
  ) throws(InvocationError) {
    try register(selector, Implementation(encoding: encoding, method: body))
  }

  /// Registers a Swift closure without a result.
  @inlinable
  public func register<Receiver: AnyObject, A: CallValue, B: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A, B) throws -> Void
  ) throws(InvocationError) {
    try register(selector, Implementation(encoding: encoding, method: body))
  }

  /// Registers a Swift closure for a selector, in place of any method the class itself had.
  @inlinable
  public func register<
    Receiver: AnyObject, Value: CallValue, A: CallValue, B: CallValue, C: CallValue
  >(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A, B, C) throws -> Value
  ) throws(InvocationError) {
    try register(selector, Implementation(encoding: encoding, method: body))
  }

  /// Registers a Swift closure without a result.
  @inlinable
  public func register<Receiver: AnyObject, A: CallValue, B: CallValue, C: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A, B, C) throws -> Void
  ) throws(InvocationError) {
    try register(selector, Implementation(encoding: encoding, method: body))
  }

}

extension MethodDeclarations {
  /// Adds a method to the class that `body` receives, unless that has one for the selector.
  @inlinable
  public func declare<Receiver: AnyObject, Value: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver) throws -> Value
  ) {
    add(selector, to: Receiver.self) { () throws(InvocationError) in
      try Implementation(encoding: encoding, method: body)
    }
  }

  /// Adds a method without a result.
  @inlinable
  public func declare<Receiver: AnyObject>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver) throws -> Void
  ) {
    add(selector, to: Receiver.self) { () throws(InvocationError) in
      try Implementation(encoding: encoding, method: body)
    }
  }

  /// Adds a method to the class that `body` receives, unless that has one for the selector.
  @inlinable
  public func declare<Receiver: AnyObject, Value: CallValue, A: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A) throws -> Value
  ) {
    add(selector, to: Receiver.self) { () throws(InvocationError) in
      try Implementation(encoding: encoding, method: body)
    }
  }

  /// Adds a method without a result.
  @inlinable
  public func declare<Receiver: AnyObject, A: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A) throws -> Void
  ) {
    add(selector, to: Receiver.self) { () throws(InvocationError) in
      try Implementation(encoding: encoding, method: body)
    }
  }

  /// Adds a method to the class that `body` receives, unless that has one for the selector.
  @inlinable
  public func declare<Receiver: AnyObject, Value: CallValue, A: CallValue, B: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A, B) throws -> Value
  ) {
    add(selector, to: Receiver.self) { () throws(InvocationError) in
      try Implementation(encoding: encoding, method: body)
    }
  }

  /// Adds a method without a result.
  @inlinable
  public func declare<Receiver: AnyObject, A: CallValue, B: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A, B) throws -> Void
  ) {
    add(selector, to: Receiver.self) { () throws(InvocationError) in
      try Implementation(encoding: encoding, method: body)
    }
  }

  /// Adds a method to the class that `body` receives, unless that has one for the selector.
  @inlinable
  public func declare<
    Receiver: AnyObject, Value: CallValue, A: CallValue, B: CallValue, C: CallValue
  >(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A, B, C) throws -> Value
  ) {
    add(selector, to: Receiver.self) { () throws(InvocationError) in
      try Implementation(encoding: encoding, method: body)
    }
  }

  /// Adds a method without a result.
  @inlinable
  public func declare<Receiver: AnyObject, A: CallValue, B: CallValue, C: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A, B, C) throws -> Void
  ) {
    add(selector, to: Receiver.self) { () throws(InvocationError) in
      try Implementation(encoding: encoding, method: body)
    }
  }

}
