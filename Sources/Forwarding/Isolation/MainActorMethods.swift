// Methods of the main actor. One whose receiver, arguments and result are all Sendable gets what is awaited
// elsewhere, too; another one only what comes from the main actor.

extension Implementation {
  /// A method of the main actor, over `Sendable` types: it takes the receiver in front of the arguments.
  ///
  /// A send from the main actor calls it in place, one that is awaited elsewhere goes there, and any other
  /// throws ``ForwardingError/wrongIsolation(_:)``.
  public convenience init<
    Receiver: AnyObject & Sendable, Value: Sendable, each Argument: Sendable
  >(
    encoding: String? = nil, on actor: MainActor.Type,
    method body: @escaping @MainActor @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    try self.init(encoding: encoding, mainActor: Isolation.main, hopping: body)
  }

  /// A method of the main actor, over any types, for messages that are sent there.
  public convenience init<Receiver: AnyObject, Value, each Argument>(
    encoding: String? = nil, on actor: MainActor.Type,
    method body: @escaping @MainActor @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    try self.init(encoding: encoding, mainActor: Isolation.main, staying: body)
  }

  /// An `async` method of the main actor, over `Sendable` types.
  public convenience init<
    Receiver: AnyObject & Sendable, Value: Sendable, each Argument: Sendable
  >(
    encoding: String? = nil, on actor: MainActor.Type,
    asyncMethod body:
      @escaping @MainActor @Sendable (Receiver, repeat each Argument) async throws -> Value
  ) throws(InvocationError) {
    try self.init(encoding: encoding, awaitedOnMainActor: body)
  }
}

extension MethodRegistry {
  /// Registers a closure of the main actor, over `Sendable` types.
  public func register<
    Receiver: AnyObject & Sendable, Value: Sendable, each Argument: Sendable
  >(
    _ selector: Selector, on actor: MainActor.Type, replacing: Bool = false,
    encoding: String? = nil,
    _ body: @escaping @MainActor @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in
      try Implementation(encoding: encoding, on: actor, method: body)
    }
  }

  /// Registers a closure of the main actor, over any types, for messages that are sent there.
  public func register<Receiver: AnyObject, Value, each Argument>(
    _ selector: Selector, on actor: MainActor.Type, replacing: Bool = false,
    encoding: String? = nil,
    _ body: @escaping @MainActor @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in
      try Implementation(encoding: encoding, on: actor, method: body)
    }
  }

  /// Registers an `async` closure of the main actor, over `Sendable` types.
  public func register<
    Receiver: AnyObject & Sendable, Value: Sendable, each Argument: Sendable
  >(
    _ selector: Selector, on actor: MainActor.Type, replacing: Bool = false,
    encoding: String? = nil,
    _ body: @escaping @MainActor @Sendable (Receiver, repeat each Argument) async throws -> Value
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in
      try Implementation(encoding: encoding, on: actor, asyncMethod: body)
    }
  }
}

extension ClosureTarget {
  /// Answers a selector with a closure of the main actor, over `Sendable` types.
  public func register<Result: Sendable, each Argument: Sendable>(
    _ selector: Selector, on actor: MainActor.Type, replacing: Bool = false,
    encoding: String? = nil,
    _ body: @escaping @MainActor @Sendable (repeat each Argument) throws -> Result
  ) throws(InvocationError) {
    try register(
      selector, replacing: replacing,
      Implementation(encoding: encoding, on: actor) {
        (_: ClosureTarget, arguments: repeat each Argument) throws -> Result in
        try body(repeat each arguments)
      })
  }
}
