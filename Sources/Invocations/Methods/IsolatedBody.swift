// SPDX-License-Identifier: Apache-2.0
// Methods that are isolated to actors. They are called in place if their actor is already running
// the caller. Awaited sends hop to the actor, if all values may be sent there. Other sends get the
// error of a check.

extension Implementation {
  /// Throws where a method of an object may not run. It is told whether the method has a result.
  package typealias IsolationCheck =
    @Sendable (_ receiver: AnyObject?, Selector?, _ hasResult: Bool) throws -> Void

  /// A method of the main actor.
  ///
  /// - Parameter hops: whether all values may be sent there.
  package convenience init<Receiver: AnyObject, Value, each Argument>(
    encoding: String?, hops: Bool, unless check: @escaping IsolationCheck,
    mainActor body: @escaping @MainActor @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    let inPlace: @Sendable (Receiver, repeat each Argument) throws -> Value = {
      (receiver, arguments: repeat each Argument) in
      // SAFETY: this is the main actor, as was checked, so nothing crosses to it; and a function that
      // is isolated differs from one that is not in nothing else.
      let held = UncheckedSendable((receiver, (repeat each arguments)))
      let isolated: @MainActor () throws -> Value = {
        let (receiver, arguments) = held.value
        return try body(receiver, repeat each arguments)
      }
      return try unsafe unsafeBitCast(isolated, to: (() throws -> Value).self)()
    }
    let main: @Sendable (AnyObject?) -> (any Actor)? = { _ in MainActor.shared }
    self.init(
      try Implementation(encoding: encoding, method: inPlace), hoppingTo: hops ? main : nil,
      unless: check)
  }

  /// A method of the actor that receives it.
  package convenience init<Receiver: Actor, Value: Sendable, each Argument: Sendable>(
    encoding: String?, unless check: @escaping IsolationCheck,
    actor body: @escaping @Sendable (isolated Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    let inPlace: @Sendable (Receiver, repeat each Argument) throws -> Value = {
      (receiver, arguments: repeat each Argument) in
      try receiver.assumeIsolated { try body($0, repeat each arguments) }
    }
    self.init(
      try Implementation(encoding: encoding, method: inPlace),
      hoppingTo: { $0 as? any Actor }, unless: check)
  }

  /// Wraps a method that belongs to an actor. If `check` throws, the method is not performed; an
  /// awaited call hops to the actor of the receiver instead, if there is one.
  package convenience init(
    _ method: Implementation, hoppingTo actor: (@Sendable (AnyObject?) -> (any Actor)?)?,
    unless check: @escaping IsolationCheck
  ) {
    self.init(method) { method in
      let (plan, body, awaited) = (method.plan, method.body, method.awaitedBody)
      let checked: @Sendable (FrameReference) throws -> Void = { frame in
        try check(frame.argument(0, of: plan).object, frame.selector(of: plan), plan.returnsValue)
      }
      let performed: AwaitedClosure =
        awaited ?? { call in try unsafe body(FrameReference(call.call.frame)) }
      let hopping: AwaitedClosure = { call in
        do {
          try checked(unsafe FrameReference(call.call.frame))
        } catch {
          guard let actor = actor?(call.target) else { throw error }
          return try await Self.perform(UncheckedSendable(call), on: actor, performed, checked)
        }
        try await performed(call)
      }
      return (
        { frame in
          try checked(frame)
          try body(frame)
        }, awaited == nil && actor == nil ? nil : hopping
      )
    }
  }

  /// Performs an awaited call on an actor. The values of the call may be sent there, and its sender
  /// does not use the call meanwhile.
  private static func perform(
    _ call: UncheckedSendable<Invocation>, on actor: isolated any Actor, _ body: AwaitedClosure,
    _ check: (FrameReference) throws -> Void
  ) async throws {
    // Without code that runs here, the compiler omits the hop to the actor.
    try check(unsafe FrameReference(call.value.call.frame))
    try await body(call.value)
  }
}

/// A value that stays in its isolation, although the compiler cannot see that.
private struct UncheckedSendable<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}
