// SPDX-License-Identifier: Apache-2.0
public import Invocations

// Methods of actors: closures with an `isolated` receiver, and those of the main actor. What crosses to an actor
// is Sendable. A method of the main actor whose types are not must be sent there.

extension MethodRegistry {
  /// Registers a closure whose first parameter is the receiver, an `isolated` actor.
  ///
  /// A message that is sent on the actor calls the method in place. A message that is awaited
  /// elsewhere switches to the actor. Any other message throws
  /// ``ForwardingError/wrongIsolation(_:_:)``.
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
      () throws(InvocationError) in
      try Implementation(encoding: encoding, unless: Isolation.receiver, actor: body)
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
      () throws(InvocationError) in
      let method:
        nonisolated(nonsending) @Sendable (Receiver, repeat each Argument) async throws -> Value =
          { (receiver: Receiver, arguments: repeat each Argument) in
            try await body(receiver, repeat each arguments)
          }
      return try Implementation(encoding: encoding, asyncMethod: method)
    }
  }

  /// Registers a closure of the main actor with `Sendable` types, in the way of one of another actor.
  ///
  /// - Throws: as for a method of another actor.
  public func register<
    Receiver: AnyObject & Sendable, Value: Sendable, each Argument: Sendable
  >(
    _ selector: Selector, on actor: MainActor.Type, replacing: Bool = false,
    encoding: String? = nil,
    _ body: @escaping @MainActor @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in
      try Implementation(
        encoding: encoding, hops: true, unless: Isolation.main(goesThere: true), mainActor: body)
    }
  }

  /// Registers a closure of the main actor with any types. Its messages must be sent on the main
  /// actor.
  ///
  /// - Throws: as for a method of another actor.
  public func register<Receiver: AnyObject, Value, each Argument>(
    _ selector: Selector, on actor: MainActor.Type, replacing: Bool = false,
    encoding: String? = nil,
    _ body: @escaping @MainActor @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in
      try Implementation(
        encoding: encoding, hops: false, unless: Isolation.main(goesThere: false), mainActor: body)
    }
  }

  /// Registers an `async` closure of the main actor with `Sendable` types.
  ///
  /// - Throws: as for a method of another actor.
  public func register<
    Receiver: AnyObject & Sendable, Value: Sendable, each Argument: Sendable
  >(
    _ selector: Selector, on actor: MainActor.Type, replacing: Bool = false,
    encoding: String? = nil,
    _ body: @escaping @MainActor @Sendable (Receiver, repeat each Argument) async throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in
      try Implementation(
        encoding: encoding,
        asyncMethod: {
          (receiver: Receiver, arguments: repeat each Argument) async throws -> Value in
          try await body(receiver, repeat each arguments)
        })
    }
  }
}

extension ClosureTarget {
  /// Registers a closure of the main actor with `Sendable` types for a selector.
  ///
  /// - Throws: an ``InvocationError`` if the selector is registered and `replacing` is false, or
  ///   the encoding does not fit the selector or the types.
  public func register<Result: Sendable, each Argument: Sendable>(
    _ selector: Selector, on actor: MainActor.Type, replacing: Bool = false,
    encoding: String? = nil,
    _ body: @escaping @MainActor @Sendable (repeat each Argument) throws -> Result
  ) throws(InvocationError) {
    try register(
      selector, replacing: replacing,
      Implementation(
        encoding: encoding, hops: true, unless: Isolation.main(goesThere: true),
        mainActor: { (_: ClosureTarget, arguments: repeat each Argument) throws -> Result in
          try body(repeat each arguments)
        }))
  }
}
