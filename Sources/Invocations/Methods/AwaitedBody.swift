// SPDX-License-Identifier: Apache-2.0
// `async` methods. They have a body for senders that await, and another that throws for senders
// that do not. Their plan is that of any method, so sends that do not await cost no more than
// before.

extension Implementation {
  /// Makes a method from an `async` closure over any types, which takes the receiver in front of
  /// the arguments. Its types must fit `encoding`, or spell one if it is nil.
  ///
  /// The method runs in its sender's isolation, so the values need not be `Sendable`. A send that
  /// does not await it throws ``InvocationError/notAwaited(_:)``.
  ///
  /// - Throws: ``InvocationError`` if `encoding` is invalid or does not fit the closure.
  public convenience init<Receiver: AnyObject, Value, each Argument>(
    encoding: String? = nil,
    asyncMethod body:
      nonisolated(nonsending) @escaping @Sendable (
        Receiver, repeat each Argument
      ) async throws -> Value
  ) throws(InvocationError) {
    try self.init(encoding, receiver: Receiver.self) {
      (fitted: FittedPlan<Value, repeat each Argument>) in
      let awaited: AwaitedClosure = { call in
        let (receiver, arguments) = try call.parts(fitted, Receiver.self)
        try call.answer(await body(receiver, repeat each arguments), fitted.result)
      }
      return (SwiftBody.notAwaited(fitted.plan), awaited)
    }
  }
}

extension FrameReference {
  /// The selector in the frame of a method.
  func selector(of plan: CallPlan) -> Selector? {
    Selector(ofWord: argument(1, of: plan).word)
  }
}

extension Invocation {
  /// The receiver, as an object of the class that a method takes, and the arguments. The plan was
  /// compared with their types.
  func parts<Receiver: AnyObject, Value, each Argument>(
    _ fitted: FittedPlan<Value, repeat each Argument>, _ type: Receiver.Type
  ) throws(InvocationError) -> (receiver: Receiver, arguments: (repeat each Argument)) {
    var places = unsafe PlaceCursor(
      fitted.plan, fitted.arguments, FrameReference(call.frame))
    guard let receiver = target as? Receiver else {
      throw .wrongClass(
        expected: SwiftType(type), given: target.map { SwiftType(Swift.type(of: $0)) })
    }
    return (receiver, (repeat try places.next((each Argument).self)))
  }

  /// Stores a result of a type that was compared with the plan.
  func answer<Value>(_ value: Value, _ place: Place) throws(InvocationError) {
    try unsafe place.store(value, in: call.resultSlot)
  }
}

extension MethodRegistry {
  /// Registers an `async` closure over any types, which takes the receiver in front of the
  /// arguments. Its types must fit `encoding`, or spell one if it is nil.
  ///
  /// - Throws: ``MethodRegistry/Failure`` if the method cannot be made or registered.
  public func register<Receiver: AnyObject, Value, each Argument>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body:
      nonisolated(nonsending) @escaping @Sendable (
        Receiver, repeat each Argument
      ) async throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in try Implementation(encoding: encoding, asyncMethod: body)
    }
  }

  /// Registers an `async` method of a class: `Account.transfer`. It must be
  /// `nonisolated(nonsending)`.
  ///
  /// - Throws: ``MethodRegistry/Failure`` if the method cannot be made or registered.
  public func register<Receiver: AnyObject, Value, each Argument>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ method:
      @escaping @Sendable (Receiver) ->
      nonisolated(nonsending) (
        repeat each Argument
      ) async throws -> Value
  ) throws(Failure) {
    try register(selector, replacing: replacing, encoding: encoding) {
      (receiver: Receiver, arguments: repeat each Argument) async throws -> Value in
      try await method(receiver)(repeat each arguments)
    }
  }
}
