// SPDX-License-Identifier: Apache-2.0
// Methods that are isolated to actors. They are called in place if their actor is already running
// the caller. Awaited sends hop to the actor. Other sends get the error of `check`.

extension Implementation {
  /// Throws where a method of an object may not run. It is told whether the sender wants a result, and whether a message
  /// that is awaited goes to the actor.
  package typealias IsolationCheck =
    @Sendable (_ receiver: AnyObject?, Selector?, _ hasResult: Bool, _ goesThere: Bool) throws ->
    Void

  /// A method of the main actor. Awaited calls hop there, so all values are `Sendable`.
  package convenience init<
    Receiver: AnyObject & Sendable, Value: Sendable, each Argument: Sendable
  >(
    encoding: String?, mainActor check: @escaping IsolationCheck,
    hopping body: @escaping @MainActor @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, repeat each Argument>(method: encoding)
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
      }, IsolatedBody.onMainActor(fitted, check, goesThere: true, body))
  }

  /// A method of the main actor for values that stay there.
  package convenience init<Receiver: AnyObject, Value, each Argument>(
    encoding: String?, mainActor check: @escaping IsolationCheck,
    staying body: @escaping @MainActor @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, repeat each Argument>(method: encoding)
    self.init(
      fitted, receiver: Receiver.self,
      withoutResult: try Self.twin(encoding, Value.self) { () throws(InvocationError) in
        try Implementation(
          encoding: nil, mainActor: check,
          staying: { (receiver: Receiver, arguments: repeat each Argument) throws -> Void in
            _ = try body(receiver, repeat each arguments)
          })
      },
      IsolatedBody.onMainActor(fitted, check, goesThere: false, body))
  }

  /// A method of the actor that receives it.
  package convenience init<Receiver: Actor, Value: Sendable, each Argument: Sendable>(
    encoding: String?, actor check: @escaping IsolationCheck,
    _ body: @escaping @Sendable (isolated Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, repeat each Argument>(method: encoding)
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
}

extension Implementation {
  /// Wraps a method of an object whose class conforms on an actor. If `check` throws, the method is
  /// not performed; an awaited call hops to the actor instead, if there is one that all values may
  /// be sent to.
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
  /// Performs an awaited call on an actor. The values of the call may be sent there, and its sender
  /// does not use the call meanwhile.
  fileprivate static func perform(
    _ call: UncheckedSendable<Invocation>, on actor: isolated any Actor,
    _ body: Implementation.AwaitedClosure, unless check: () throws -> Void
  ) async throws {
    // Without code that runs here, the compiler omits the hop to the actor.
    try check()
    try await body(call.value)
  }

  static func onMainActor<Receiver: AnyObject, Value, each Argument>(
    _ fitted: FittedPlan<Value, repeat each Argument>,
    _ check: @escaping Implementation.IsolationCheck, goesThere: Bool,
    _ body: @escaping @MainActor @Sendable (Receiver, repeat each Argument) throws -> Value
  ) -> Implementation.Closure {
    let hasResult = Value.self != Void.self
    return { frame in
      let receiver = try SwiftBody.receiver(
        frame.argument(0, of: fitted.plan).object, as: Receiver.self)
      try check(receiver, frame.selector(of: fitted.plan), hasResult, goesThere)
      // SAFETY: this is the main actor, as was checked, so nothing crosses to it; and a function that is
      // isolated differs from one that is not in nothing else.
      let held = UncheckedSendable((frame, receiver))
      let isolated: @MainActor () throws -> Value = {
        let (frame, receiver) = held.value
        var places = PlaceCursor(fitted.plan, fitted.arguments, frame)
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
    let hasResult = Value.self != Void.self
    return { frame in
      let receiver = try SwiftBody.receiver(
        frame.argument(0, of: fitted.plan).object, as: Receiver.self)
      try check(receiver, frame.selector(of: fitted.plan), hasResult, true)
      var places = PlaceCursor(fitted.plan, fitted.arguments, frame)
      let arguments = (repeat try places.next((each Argument).self))
      let value = try receiver.assumeIsolated { try body($0, repeat each arguments) }
      try unsafe fitted.result.store(value, in: frame.result(of: fitted.plan))
    }
  }
}

/// A value that stays in its isolation, although the compiler cannot see that.
fileprivate struct UncheckedSendable<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}
