// Closures whose arguments and results are of any Swift types. Those that say themselves how they travel
// do so; objects travel as references, and all others by their address, without a copy.
//
// What takes or gives a value that C has none for also answers messages that want no result.

extension Implementation {
  /// A method from a closure over any types: it takes the receiver in front of the arguments. Its types
  /// are compared with `encoding`, or spell one.
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

  /// A method from a closure that takes the arguments alone.
  @usableFromInline
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

  /// The same method for messages that want no result. A closure of one expression may have one that
  /// nobody meant: `{ (id: Int) in seen.insert(id) }`.
  @usableFromInline
  static func droppingResult<Receiver: AnyObject, Value, each Argument>(
    of fitted: FittedPlan<Value, repeat each Argument>, _ encoding: String?,
    _ body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Void
  ) throws(InvocationError) -> Implementation? {
    if encoding != nil || Value.self == Void.self || fitted.isOfC { return nil }
    let fitted = try FittedPlan<Void, repeat each Argument>(anyMethod: nil)
    return Implementation(
      fitted, receiver: Receiver.self, unsafe AnyBody.returning(fitted, method: body))
  }
}

extension MethodRegistry {
  /// Registers a closure over any types, which takes the receiver in front of the arguments. Its types are
  /// compared with `encoding`, or spell one.
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
  /// Registers a closure over any types. Its types are compared with `encoding`, or spell one.
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
