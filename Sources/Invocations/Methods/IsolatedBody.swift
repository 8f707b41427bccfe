// Methods that belong to actors. Where their actor runs already they are called in place; a send that is
// awaited goes there; any other gets the error of `check`.

extension Implementation {
  /// Throws where a method of an object may not run.
  package typealias IsolationCheck = @Sendable (_ receiver: AnyObject?, Selector?) throws -> Void

  /// A method of the main actor. What is awaited goes there, so all of it is `Sendable`.
  package convenience init<
    Receiver: AnyObject & Sendable, Value: Sendable, each Argument: Sendable
  >(
    encoding: String?, mainActor check: @escaping IsolationCheck,
    hopping body: @escaping @MainActor @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, repeat each Argument>(anyMethod: encoding)
    self.init(
      fitted, receiver: Receiver.self,
      withoutResult: try Self.twin(encoding, Value.self) { () throws(InvocationError) in
        try Implementation(
          encoding: nil, mainActor: check,
          hopping: { (receiver: Receiver, arguments: repeat each Argument) throws -> Void in
            _ = try body(receiver, repeat each arguments)
          })
      },
      awaited: { call in
        let (receiver, arguments) = try call.parts(fitted, Receiver.self)
        try call.answer(await body(receiver, repeat each arguments), fitted.result)
      }, IsolatedBody.onMainActor(fitted, check, body))
  }

  /// A method of the main actor for values that only come from there.
  package convenience init<Receiver: AnyObject, Value, each Argument>(
    encoding: String?, mainActor check: @escaping IsolationCheck,
    staying body: @escaping @MainActor @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, repeat each Argument>(anyMethod: encoding)
    self.init(
      fitted, receiver: Receiver.self,
      withoutResult: try Self.twin(encoding, Value.self) { () throws(InvocationError) in
        try Implementation(
          encoding: nil, mainActor: check,
          staying: { (receiver: Receiver, arguments: repeat each Argument) throws -> Void in
            _ = try body(receiver, repeat each arguments)
          })
      },
      IsolatedBody.onMainActor(fitted, check, body))
  }

  /// An `async` method of the main actor.
  package convenience init<
    Receiver: AnyObject & Sendable, Value: Sendable, each Argument: Sendable
  >(
    encoding: String?,
    awaitedOnMainActor body:
      @escaping @MainActor @Sendable (Receiver, repeat each Argument) async throws -> Value
  ) throws(InvocationError) {
    try self.init(
      encoding: encoding,
      asyncMethod: { (receiver: Receiver, arguments: repeat each Argument) async throws -> Value in
        try await body(receiver, repeat each arguments)
      })
  }

  /// A method of the actor that receives it.
  package convenience init<Receiver: Actor, Value: Sendable, each Argument: Sendable>(
    encoding: String?, actor check: @escaping IsolationCheck,
    _ body: @escaping @Sendable (isolated Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, repeat each Argument>(anyMethod: encoding)
    self.init(
      fitted, receiver: Receiver.self,
      withoutResult: try Self.twin(encoding, Value.self) { () throws(InvocationError) in
        try Implementation(encoding: nil, actor: check) {
          (receiver: isolated Receiver, arguments: repeat each Argument) throws -> Void in
          _ = try body(receiver, repeat each arguments)
        }
      },
      awaited: { call in
        let (receiver, arguments) = try call.parts(fitted, Receiver.self)
        try call.answer(await body(receiver, repeat each arguments), fitted.result)
      }, IsolatedBody.onActor(fitted, check, body))
  }

  /// An `async` method of the actor that receives it.
  package convenience init<Receiver: Actor, Value: Sendable, each Argument: Sendable>(
    encoding: String?,
    awaitedOnActor body:
      @escaping @Sendable (isolated Receiver, repeat each Argument) async throws -> Value
  ) throws(InvocationError) {
    try self.init(
      encoding: encoding,
      asyncMethod: { (receiver: Receiver, arguments: repeat each Argument) async throws -> Value in
        try await body(receiver, repeat each arguments)
      })
  }

  /// The same method for messages that want no result, where it has one.
  private static func twin<Value>(
    _ encoding: String?, _ type: Value.Type, _ make: () throws(InvocationError) -> Implementation
  ) throws(InvocationError) -> Implementation? {
    if encoding != nil || type == Void.self { return nil }
    return try make()
  }
}

extension Implementation {
  /// The same method, of an object whose class conforms on an actor. Where `check` throws it is not performed; but
  /// what is awaited goes to the actor, if there is one that all of it may go to.
  package convenience init(
    _ method: Implementation, hoppingTo actor: (any Actor)?,
    unless check: @escaping @Sendable () throws -> Void
  ) {
    let (body, awaited) = (method.body, method.awaitedBody)
    let performed: AwaitedClosure =
      awaited ?? { call in try unsafe body(FrameReference(call.call.frame)) }
    let hopping: AwaitedClosure = { call in
      do {
        try check()
      } catch {
        guard let actor else { throw error }
        return try await IsolatedBody.perform(
          UncheckedSendable(call), on: actor, performed, unless: check)
      }
      try await performed(call)
    }
    self.init(method, awaited: awaited == nil && actor == nil ? nil : hopping) { frame in
      try check()
      try body(frame)
    }
  }
}

/// Bodies that are called in place, where their actor runs.
enum IsolatedBody {
  /// Performs on an actor what is awaited. The values of the call may go there, and its sender does nothing with it
  /// meanwhile.
  fileprivate static func perform(
    _ call: UncheckedSendable<Invocation>, on actor: isolated any Actor,
    _ body: Implementation.AwaitedClosure, unless check: () throws -> Void
  ) async throws {
    // Without anything that is done here the compiler leaves the way to the actor out.
    try check()
    try await body(call.value)
  }

  static func onMainActor<Receiver: AnyObject, Value, each Argument>(
    _ fitted: FittedPlan<Value, repeat each Argument>,
    _ check: @escaping Implementation.IsolationCheck,
    _ body: @escaping @MainActor @Sendable (Receiver, repeat each Argument) throws -> Value
  ) -> Implementation.Closure {
    { frame in
      let receiver = try SwiftBody.receiver(
        frame.argument(0, of: fitted.plan).object, as: Receiver.self)
      try check(receiver, frame.selector(of: fitted.plan))
      // SAFETY: this is the main actor, as was checked, so nothing crosses to it; and a function that is
      // isolated differs from one that is not in nothing else.
      let held = UncheckedSendable((frame, receiver))
      let isolated: @MainActor () throws -> Value = {
        let (frame, receiver) = held.value
        var places = PlaceCursor(fitted.plan, fitted.arguments, frame, fitted.first)
        return try body(receiver, repeat try places.next((each Argument).self))
      }
      let plain = unsafe unsafeBitCast(isolated, to: (() throws -> Value).self)
      try unsafe fitted.result.store(plain(), in: frame.result(of: fitted.plan))
    }
  }

  static func onActor<Receiver: Actor, Value: Sendable, each Argument: Sendable>(
    _ fitted: FittedPlan<Value, repeat each Argument>,
    _ check: @escaping Implementation.IsolationCheck,
    _ body: @escaping @Sendable (isolated Receiver, repeat each Argument) throws -> Value
  ) -> Implementation.Closure {
    { frame in
      let receiver = try SwiftBody.receiver(
        frame.argument(0, of: fitted.plan).object, as: Receiver.self)
      try check(receiver, frame.selector(of: fitted.plan))
      var places = PlaceCursor(fitted.plan, fitted.arguments, frame, fitted.first)
      let arguments = (repeat try places.next((each Argument).self))
      let value = try receiver.assumeIsolated { try body($0, repeat each arguments) }
      try unsafe fitted.result.store(value, in: frame.result(of: fitted.plan))
    }
  }
}

/// A value that stays where it is, whatever the compiler thinks.
fileprivate struct UncheckedSendable<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}
