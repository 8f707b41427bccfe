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
    do {
      try await dispatchAwaiting(other)
    } catch {
      call.takeBack(before)
      throw error
    }
    call.takeBack(before)
  }

  /// Performs a method of an object, which the caller retains. The old target is restored
  /// afterwards.
  package nonisolated(nonsending) func performAwaiting(
    _ method: Implementation, on object: AnyObject
  ) async throws {
    guard method.isAwaited else { return try call.perform(method, on: object) }
    let before = call.lendTarget(object)
    do {
      try await performAwaiting(method)
    } catch {
      call.takeBack(before)
      throw error
    }
    call.takeBack(before)
  }

  /// Looks up the method of the receiver, which is set and retained, and performs it, or forwards.
  private nonisolated(nonsending) func dispatchAwaiting(_ receiver: AnyObject) async throws {
    guard let selector else { throw InvocationError.selectorNotSet }
    // An old result must not pass for the answer to a message that is refused.
    call.forgetResult()
    let type: AnyClass = Swift.type(of: receiver)
    // The lookup may run code of the class, which may have this invocation.
    let (table, method) = call.lendingTarget {
      let (table, method) = MethodTable.find(type, selector)
      return (table, method ?? table.ownOrClassMethod(of: receiver, for: selector))
    }
    if let method {
      return try await performAwaiting(call.check(method, selector))
    }
    guard let steps = table.forwarding else {
      // The class leaves out this optional requirement.
      if table.signature(for: selector) != nil { UnansweredMessages.note(call) }
      throw InvocationError.unrecognized(selector, by: receiver)
    }
    try await AwaitedStep.take(through: receiver, call, selector, for: type) {
      try await self.forwardAwaiting(selector, to: receiver, as: steps.type)
    }
  }

  /// Performs a method whose plan was compared with this one's.
  private nonisolated(nonsending) func performAwaiting(_ method: Implementation) async throws {
    guard let body = method.awaitedBody else {
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
    call.adoptAnswer(isOwned: method.ownsResult)
  }

  private nonisolated(nonsending) func forwardAwaiting(
    _ selector: Selector, to target: AnyObject, as type: any MessageForwarding.Type
  ) async throws {
    guard let forwarding = target as? any MessageForwarding else { return }
    let other = call.lendingTarget { forwarding.forwardingTarget(for: selector) }
    if let other, other !== target { return try await sendAwaiting(to: other) }
    switch call.lendingTarget({ forwarding.match(self, selector) }) {
    case .fits: break
    case .expects(let signature):
      throw InvocationError.signatureMismatch(
        name: selector.name, expected: signature, given: plan.signature)
    case .unknown:
      try forwarding.unrecognizedSelector(selector)
      return call.answerWithZero()
    }
    let before = call.lendTarget(target)
    do {
      try await forwarding.forwardAwaiting(self)
    } catch {
      call.takeBack(before)
      call.setSelector(selector)
      throw error
    }
    call.takeBack(before)
    call.setSelector(selector)
  }

  /// Has an object that awaits nothing forward this invocation.
  package func forwardAtOnce(by object: some MessageForwarding) throws {
    guard let selector else { throw InvocationError.selectorNotSet }
    try ForwardingDepth.enter(object, call, selector, for: object)
    defer { ForwardingDepth.leave() }
    try object.forward(self)
  }
}

extension MethodTable {
  /// The method that an object of this class has for a selector. Its own methods come first.
  /// Returns nil for a class whose objects have no methods of their own.
  fileprivate func ownOrClassMethod(
    of object: AnyObject, for selector: Selector
  ) -> Implementation? {
    // SAFETY: the caller retains the object.
    let held = unsafe BorrowedObject(Unmanaged.passUnretained(object).toOpaque())
    return withExtendedLifetime(object) { ownOrClassMethod(of: held, for: selector) }
  }
}

/// The target of a call and its ownership, while another object is in its place.
private struct TargetBefore {
  let word: UInt64
  let isOwned: Bool
  let isLent: Bool
}

extension Call {
  /// Sets a temporary target, which the caller retains until `takeBack`.
  fileprivate func lendTarget(_ object: AnyObject) -> TargetBefore {
    let before = TargetBefore(word: slot(0).word, isOwned: owns(0), isLent: isTargetLent)
    setOwns(0, false)
    isTargetLent = false
    slot(0).object = object
    return before
  }

  fileprivate func takeBack(_ before: TargetBefore) {
    // The object that forwarded may have set another target.
    let other = detachArgument(0)
    slot(0).word = before.word
    setOwns(0, before.isOwned)
    isTargetLent = before.isLent
    letGo(other)
  }

  /// Whether an object forwarded the call before the call crossed to this thread.
  func hasPassed(_ object: ObjectIdentifier) -> Bool {
    unsafe hasPassed(UnsafeRawPointer(bitPattern: UInt(bitPattern: object)).unsafelyUnwrapped)
  }
}
