// SPDX-License-Identifier: Apache-2.0
// Closures with arguments and results of any Swift types. Types with a `CallValue` conformance
// convert their values. Objects are passed as references, and other values by their address,
// without a copy.
//
// A method whose types spell its encoding also answers messages without a result.

extension Implementation {
  /// Makes a method from a closure over any types, which takes the receiver in front of the
  /// arguments. Its types must fit `encoding`, or spell one if it is nil.
  ///
  /// - Throws: ``InvocationError`` if `encoding` is invalid or does not fit the closure.
  @inlinable
  public convenience init<
    Receiver: AnyObject, Value, each Argument
  >(
    encoding: String? = nil,
    method body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, repeat each Argument>(anyMethod: encoding)
    let drop = try Self.droppingResult(of: fitted, encoding) {
      (receiver: Receiver, arguments: repeat each Argument) in
      _ = try body(receiver, repeat each arguments)
    }
    self.init(
      fitted, receiver: Receiver.self, withoutResult: drop,
      unsafe AnyBody.returning(fitted, method: body))
  }

  /// Makes a method from a closure that takes only the arguments.
  @inlinable
  package static func ofAnyTypes<Value, each Argument>(
    encoding: String?, _ body: @escaping @Sendable (repeat each Argument) throws -> Value
  ) throws(InvocationError) -> Implementation {
    let fitted = try FittedPlan<Value, repeat each Argument>(anyMethod: encoding)
    var twin: Implementation?
    if encoding == nil {
      let void = try FittedPlan<Void, repeat each Argument>(anyMethod: nil)
      let drop = { @Sendable (arguments: repeat each Argument) in
        _ = try body(repeat each arguments)
      }
      twin = Implementation(void, AnyBody.returning(void, drop))
    }
    return Implementation(fitted, withoutResult: twin, AnyBody.returning(fitted, body))
  }

  /// Makes the variant of a method for messages without a result. A closure of one expression may
  /// have a result by accident: `{ (id: Int) in seen.insert(id) }`.
  @usableFromInline
  static func droppingResult<Receiver: AnyObject, Value, each Argument>(
    of fitted: FittedPlan<Value, repeat each Argument>, _ encoding: String?,
    _ body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Void
  ) throws(InvocationError) -> Implementation? {
    if encoding != nil || Value.self == Void.self { return nil }
    let fitted = try FittedPlan<Void, repeat each Argument>(anyMethod: nil)
    return Implementation(
      fitted, receiver: Receiver.self, unsafe AnyBody.returning(fitted, method: body))
  }
}

extension MethodRegistry {
  /// Registers a closure over any types, which takes the receiver in front of the arguments. Its
  /// types must fit `encoding`, or spell one if it is nil.
  ///
  /// - Throws: ``MethodRegistry/Failure`` if the method cannot be made or registered.
  @inlinable
  public func register<
    Receiver: AnyObject, Value, each Argument
  >(
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
  public func register<
    Receiver: AnyObject, Value, each Argument
  >(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ method: @escaping @Sendable (Receiver) -> (repeat each Argument) throws -> Value
  ) throws(Failure) {
    try register(selector, replacing: replacing, encoding: encoding) {
      (receiver: Receiver, arguments: repeat each Argument) in
      try method(receiver)(repeat each arguments)
    }
  }
}

extension FunctionTable {
  /// Registers a closure over any types. Its types must fit `encoding`, or spell one if it is nil.
  ///
  /// - Throws: ``InvocationError/duplicateName(_:)``; another ``InvocationError`` if `encoding` is
  ///   invalid or does not fit the closure.
  @inlinable
  public func register<Value, each Argument>(
    _ name: String, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, repeat each Argument>(anyFunction: encoding)
    try register(
      name, replacing: replacing, Implementation(fitted, AnyBody.returning(fitted, body)))
  }
}

extension Callback {
  @available(
    *, unavailable,
    message:
      "C cannot call with a Swift value: use numbers, Bool, CallObject, CallStructure, CarriedValue, or text, pointers and objects, which may be optional"
  )
  public convenience init<Result, each Argument>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) throws(InvocationError) { throw .nullFunction }
}

extension PreparedMessage {
  /// Makes a method that answers messages of a closure's types.
  @inlinable
  package static func answering<Value, each Argument>(
    _ body: @escaping @Sendable (repeat each Argument) throws -> Value
  ) throws(InvocationError) -> Implementation {
    try Implementation.ofAnyTypes(encoding: nil, body)
  }
}
