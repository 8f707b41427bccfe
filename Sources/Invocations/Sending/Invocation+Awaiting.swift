// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

// Awaited sends. They take the same steps as other sends: see Invocation+Sending. The call is in
// use while a method is suspended, so its values cannot be replaced meanwhile.
extension Invocation {
  /// Makes `target` the target, sends the message to it, and awaits the end.
  ///
  /// An `async` method runs in the caller's isolation, unless it declares another one. Other
  /// methods are called as by ``invoke(on:)``. A message to nil has the result zero.
  ///
  /// - Throws: The errors of ``invoke(on:)``.
  public nonisolated(nonsending) func invokeAwaiting(on target: AnyObject?) async throws {
    try setTarget(target)
    guard let target else { return try invoke() }
    try await dispatchAwaiting(target)
  }

  /// Whether cancelling the awaiting task keeps the message from further targets. False for a
  /// proxy's requirement that cannot throw, because its sender would not learn of the cancellation.
  package var endsWithTask: Bool {
    unsafe call.state.pointee.is_uncancelled == 0
  }

  /// Sends the message to another object without retaining it, and awaits the end. The old target
  /// is restored afterwards.
  @usableFromInline
  package nonisolated(nonsending) func sendAwaiting(to other: AnyObject) async throws {
    try plan.checkMethod()
    let before = call.lendTarget(other)
    defer { call.takeBack(before) }
    try await dispatchAwaiting(other)
  }

  /// Performs an implementation with an object as the receiver, and awaits its end.
  ///
  /// - Throws: ``InvocationError`` if its types differ from those of the call, or the error of the
  ///   implementation.
  package nonisolated(nonsending) func answerAwaiting(
    by method: Implementation, for object: AnyObject
  ) async throws {
    guard let selector else { throw InvocationError.selectorNotSet }
    try await performAwaiting(call.check(method, selector), on: object)
  }

  /// Performs a method of an object, which the caller retains. The old target is restored
  /// afterwards.
  package nonisolated(nonsending) func performAwaiting(
    _ method: Implementation, on object: AnyObject
  ) async throws {
    guard method.isAwaited else { return try call.perform(method, on: object) }
    let before = call.lendTarget(object)
    defer { call.takeBack(before) }
    try await performAwaiting(method)
  }

  /// Looks up the method of the receiver, which is set and retained, and performs it, or forwards.
  private nonisolated(nonsending) func dispatchAwaiting(_ receiver: AnyObject) async throws {
    guard let selector else { throw InvocationError.selectorNotSet }
    // An old result must not pass for the answer to a message that is refused.
    call.forgetResult()
    // SAFETY: the caller retains the object.
    let held = unsafe BorrowedObject(Unmanaged.passUnretained(receiver).toOpaque())
    switch try answerer(held, selector) {
    case .method(let method): try await performAwaiting(method)
    case .steps(let steps):
      try await AwaitedStep.take(through: receiver, call, selector, for: Swift.type(of: receiver)) {
        try await self.forwardAwaiting(selector, to: receiver, as: steps.type)
      }
    }
  }

  /// Performs a method whose plan was compared with this one's.
  private nonisolated(nonsending) func performAwaiting(_ method: Implementation) async throws {
    // A method with other text than the call's is not awaited, and throws that.
    guard let body = method.awaitedBody,
      method.plan === plan || !plan.differsInText(from: method.plan)
    else {
      return try call.lendingTarget { try call.perform(method) }
    }
    let old = call.detachResult()
    defer { call.letGo(old) }
    call.clearResult()
    let isLent = call.isTargetLent
    call.isTargetLent = true
    unsafe call.state.pointee.uses &+= 1
    defer {
      unsafe call.state.pointee.uses &-= 1
      call.isTargetLent = isLent
    }
    do {
      try await body(self)
    } catch {
      call.forgetResult()
      throw error
    }
    call.keepReturned(isOwned: method.ownsResult)
  }

  private nonisolated(nonsending) func forwardAwaiting<Object: MessageForwarding>(
    _ selector: Selector, to receiver: AnyObject, as type: Object.Type
  ) async throws {
    // SAFETY: the type comes from the method table of the object's class.
    let target = unsafe unsafeDowncast(receiver, to: type)
    switch try nextStep(selector, of: target) {
    case .target(let other): try await sendAwaiting(to: other)
    case .invocation:
      let before = call.lendTarget(target)
      defer { call.takeBack(before, selector) }
      try await target.forwardAwaiting(self)
    case .none: break
    }
  }
}
