// Methods of actors: closures over an `isolated` receiver. What reaches an actor crosses to it, so all types
// are Sendable.

extension Implementation {
  /// A method of an actor, which is the receiver in front of the arguments.
  ///
  /// A send from the actor calls it in place, one that is awaited elsewhere goes there, and any other throws
  /// ``ForwardingError/wrongIsolation(_:)``.
  public convenience init<Receiver: Actor, Value: Sendable, each Argument: Sendable>(
    encoding: String? = nil,
    method body: @escaping @Sendable (isolated Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    try self.init(encoding: encoding, actor: Isolation.receiver, body)
  }

  /// An `async` method of an actor.
  public convenience init<Receiver: Actor, Value: Sendable, each Argument: Sendable>(
    encoding: String? = nil,
    asyncMethod body:
      @escaping @Sendable (isolated Receiver, repeat each Argument) async throws -> Value
  ) throws(InvocationError) {
    try self.init(encoding: encoding, awaitedOnActor: body)
  }
}

extension MethodRegistry {
  /// Registers a closure over an `isolated` actor, which is the receiver in front of the arguments.
  ///
  /// ```swift
  /// actor Bank {
  ///   var total = 0
  /// }
  /// try MethodTable.of(Bank.self).register("add:") { (bank: isolated Bank, amount: Int) in
  ///   bank.total += amount
  ///   return bank.total
  /// }
  /// try await AsyncMessage<Int, Int>("add:")(5, on: Bank())  // 5
  /// ```
  public func register<Receiver: Actor, Value: Sendable, each Argument: Sendable>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (isolated Receiver, repeat each Argument) throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, method: body)
    }
  }

  /// Registers an `async` closure over an `isolated` actor.
  public func register<Receiver: Actor, Value: Sendable, each Argument: Sendable>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (isolated Receiver, repeat each Argument) async throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, asyncMethod: body)
    }
  }
}
