// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import TypeEncodings

extension Invocation {
  /// Sends the message to ``target``.
  ///
  /// An object without a method for the selector goes through the steps of ``MessageForwarding``. A
  /// message to nil calls nothing and has the result zero.
  ///
  /// - Throws: The error of the method, after which no result is available; ``InvocationError`` if
  ///   the target does not take the message, or if the invocation has no selector or is not a
  ///   method's.
  public func invoke() throws {
    // The target cannot be replaced while the call runs, because it is marked as in use.
    if try performRecalled() { return }
    try invokeAnew()
  }

  @inline(never)
  private func invokeAnew() throws {
    guard plan.isMethod, call.receiverWord != 0 else { return try invokeWithoutTarget() }
    try dispatchAnew()
  }

  private func invokeWithoutTarget() throws {
    try plan.checkMethod()
    guard selector != nil else { throw InvocationError.selectorNotSet }
    call.answerWithZero()
  }

  /// Makes `target` the target and sends the message to it.
  ///
  /// - Throws: The errors of ``invoke()``, while the invocation
  ///   is being delivered or called.
  public func invoke(on target: AnyObject?) throws {
    let word = OwnedWord(target, isOwned: false).word
    // Retaining the same target again would cost as much as the call.
    guard word != 0, call.receiverWord == word, call.owned & 1 != 0 else {
      return try invoke(onOther: target)
    }
    if try performRecalled() { return }
    guard plan.isMethod else { return try invoke(onOther: target) }
    try dispatchAnew()
  }

  @inline(never)
  private func invoke(onOther target: AnyObject?) throws {
    try setTarget(target)
    guard let target else { return try invoke() }
    // `target` is retained here, because the `deinit` of the former target may set another one.
    try withExtendedLifetime(target) { try dispatch() }
  }

  /// Sends the message to ``target`` as the superclass of `type` answers it, like `super` in a
  /// method of `type`. The target must be an object of `type`.
  ///
  /// If no superclass answers, the target forwards, as in Objective-C.
  ///
  /// - Throws: ``InvocationError/wrongClass(expected:given:)`` if the target is not an object of
  ///   `type`; the errors of ``invoke()``.
  public func invokeSuper(of type: AnyClass) throws {
    try plan.checkMethod()
    guard let selector else { throw InvocationError.selectorNotSet }
    guard let target else { return call.answerWithZero() }
    let own: AnyClass = Swift.type(of: target)
    guard isClass(own, below: type) else {
      throw InvocationError.wrongClass(expected: SwiftType(type), given: SwiftType(own))
    }
    let receiver = call.receiver
    try withExtendedLifetime(target) {
      // The lookup may run code of the classes, which may have this invocation.
      let (found, table) = call.lendingTarget {
        (MethodTable.of(type).superclass?.resolved(selector), MethodTable.of(own))
      }
      try call.replacingResult {
        if let method = found {
          return try call.perform(call.check(method, selector))
        }
        guard let steps = table.forwarding else {
          throw InvocationError.unrecognizedSelector(
            selector, type: _getSuperclass(type).map { SwiftType($0) }, nearest: nil)
        }
        try forward(selector, to: receiver, steps)
      }
    }
  }

  /// Sends the message to another object without retaining it. The old target and its ownership are
  /// restored on return. The caller retains the object.
  package func send(to other: AnyObject) throws {
    try plan.checkMethod()
    let before = call.lendTarget(other)
    defer { call.takeBack(before) }
    try dispatch()
  }

  /// Looks up the method of the receiver, which is in the frame, and performs it, or forwards.
  func dispatchByLookup(_ receiver: BorrowedObject) throws {
    try unsafe call.performKnownMethod(of: receiver, call.selectorWord, isKept: true) {
      try unsafe dispatchCarefully($0, receiver)
    }
  }

  @unsafe
  @inline(never)
  private func dispatchCarefully(_ held: FWDHeldMethod, _ receiver: BorrowedObject) throws {
    // The target may run code that drops the last other reference to it.
    let kept = unsafe Unmanaged<AnyObject>.fromOpaque(receiver.address).retain()
    defer { unsafe kept.release() }
    if try unsafe !call.performCarefully(held) { try ask(receiver) }
  }

  /// Asks the class of the receiver for a method, and the object for one of its own, or else to forward.
  func ask(_ receiver: BorrowedObject) throws {
    // An old result must not pass for the answer to a message that is refused.
    try call.replacingResult {
      guard let selector else { throw InvocationError.selectorNotSet }
      try call.check(receiver)
      switch try answerer(receiver, selector) {
      case .method(let method): try call.perform(method)
      case .steps(let steps): try forward(selector, to: receiver, steps)
      }
    }
  }

  private func forward(
    _ selector: Selector, to target: BorrowedObject, _ steps: ForwardingSteps
  ) throws {
    if let type = steps.callType { return try target.forward(call, as: type) }
    try forward(selector, to: target, as: steps.type)
  }

  private func forward<Object: MessageForwarding>(
    _ selector: Selector, to target: BorrowedObject, as type: Object.Type
  ) throws {
    try unsafe target.with(as: type) { target in
      try call.forwarding(by: target) {
        switch try nextStep(selector, of: target) {
        case .target(let other): try withExtendedLifetime(other) { try send(to: other) }
        case .invocation:
          let before = call.lendTarget(target)
          defer { call.takeBack(before, selector) }
          try target.forward(self)
        case .none: break
        }
      }
    }
  }
}
