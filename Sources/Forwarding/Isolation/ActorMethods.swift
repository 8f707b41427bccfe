// SPDX-License-Identifier: Apache-2.0
public import Invocations

// Methods of actors: closures with an `isolated` receiver. Values that are passed to an actor cross
// isolation domains, so all types are Sendable.

extension Implementation {
  /// Creates a method of an actor, from a closure whose first parameter is the receiver.
  ///
  /// A message that is sent on the actor calls the method in place. A message that is awaited
  /// elsewhere switches to the actor. Any other message throws
  /// ``ForwardingError/wrongIsolation(_:_:)``.
  ///
  /// - Throws: an ``InvocationError`` if `encoding` does not fit the types.
  public convenience init<Receiver: Actor, Value: Sendable, each Argument: Sendable>(
    encoding: String? = nil,
    method body: @escaping @Sendable (isolated Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    try self.init(encoding: encoding, actor: Isolation.receiver, body)
  }

  /// Creates an `async` method of an actor.
  ///
  /// - Throws: an ``InvocationError`` if `encoding` does not fit the types.
  public convenience init<Receiver: Actor, Value: Sendable, each Argument: Sendable>(
    encoding: String? = nil,
    asyncMethod body:
      @escaping @Sendable (isolated Receiver, repeat each Argument) async throws -> Value
  ) throws(InvocationError) {
    let method: nonisolated(nonsending) @Sendable (Receiver, repeat each Argument) async throws -> Value =
      { (receiver: Receiver, arguments: repeat each Argument) in
        try await body(receiver, repeat each arguments)
      }
    try self.init(encoding: encoding, asyncMethod: method)
  }
}

extension MethodRegistry {
  /// Registers a closure whose first parameter is the receiver, an `isolated` actor.
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
  ///
  /// - Throws: the registry's error if the selector is registered and `replacing` is false, or the
  ///   types do not fit.
  public func register<Receiver: Actor, Value: Sendable, each Argument: Sendable>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (isolated Receiver, repeat each Argument) throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, method: body)
    }
  }

  /// Registers an `async` closure whose first parameter is the receiver, an `isolated` actor.
  ///
  /// - Throws: as for a synchronous closure.
  public func register<Receiver: Actor, Value: Sendable, each Argument: Sendable>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (isolated Receiver, repeat each Argument) async throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, asyncMethod: body)
    }
  }
}
