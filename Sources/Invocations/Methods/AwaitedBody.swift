// Methods that suspend. They have a body for those who await the result; all others get an error, so their
// plan is that of any method, and sends that do not await cost what they did.

extension Implementation {
  /// A method from an `async` closure over any types: it takes the receiver in front of the arguments. Its
  /// types are compared with `encoding`, or spell one.
  ///
  /// It runs where its sender does, so what is sent need not be `Sendable`. It is to be awaited: a send that
  /// does not throws ``InvocationError/notAwaited(_:)``.
  public convenience init<Receiver: AnyObject, Value, each Argument>(
    encoding: String? = nil,
    asyncMethod body:
      nonisolated(nonsending) @escaping @Sendable (
        Receiver, repeat each Argument
      ) async throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, repeat each Argument>(anyMethod: encoding)
    let twin: Implementation? =
      Value.self == Void.self || encoding != nil
      ? nil
      : try Implementation(asyncMethod: {
        (receiver: Receiver, arguments: repeat each Argument) async throws -> Void in
        _ = try await body(receiver, repeat each arguments)
      })
    self.init(
      fitted, receiver: Receiver.self, withoutResult: twin,
      awaited: { call in
        let (receiver, arguments) = try call.parts(fitted, Receiver.self)
        try call.answer(await body(receiver, repeat each arguments), fitted.result)
      }, AwaitedBody.refusing(fitted.plan))
  }

  /// Whether those who await its result are answered in another way than others.
  package var isAwaited: Bool { awaitedBody != nil }
}

/// What the bodies of methods that are awaited have in common.
enum AwaitedBody {
  /// A body for those who do not await.
  static func refusing(_ plan: CallPlan) -> Implementation.Closure {
    { frame in throw InvocationError.notAwaited(frame.selector(of: plan)) }
  }
}

extension FrameReference {
  /// The selector in the frame of a method.
  func selector(of plan: CallPlan) -> Selector? {
    SelectorTable.selector(ofWord: argument(1, of: plan).word)
  }
}

extension Invocation {
  /// The receiver as an object of the class that a method takes, and the arguments of a plan that was
  /// compared with their types.
  func parts<Receiver: AnyObject, Value, each Argument>(
    _ fitted: FittedPlan<Value, repeat each Argument>, _ type: Receiver.Type
  ) throws(InvocationError) -> (receiver: Receiver, arguments: (repeat each Argument)) {
    var places = unsafe PlaceCursor(
      fitted.plan, fitted.arguments, FrameReference(call.frame), fitted.first)
    return (
      try SwiftBody.receiver(target, as: type), (repeat try places.next((each Argument).self))
    )
  }

  /// Leaves a result that was compared with the plan.
  func answer<Value>(_ value: Value, _ place: TypedPlace) throws(InvocationError) {
    try unsafe place.store(value, in: call.resultSlot)
  }
}

extension MethodRegistry {
  /// Registers an `async` closure over any types, which takes the receiver in front of the arguments. Its
  /// types are compared with `encoding`, or spell one.
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

  /// Registers an `async` method of a class: `Account.transfer`. It must be `nonisolated(nonsending)`.
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
