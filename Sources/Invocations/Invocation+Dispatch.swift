import CForwardingShims
import TypeEncodings

extension Invocation {
  /// Sends the message to ``target``.
  ///
  /// An object without a method for the selector goes through the steps of ``MessageForwarding``.
  /// A nil target is not called: the result is zero then, and available. Rethrows what a Swift
  /// method throws; the result is not available after that.
  public func invoke() throws {
    try plan.checkMethod()
    guard let target else {
      guard selector != nil else { throw InvocationError.selectorNotSet }
      record.answerZero()
      return
    }
    try withExtendedLifetime(target) { try dispatch(to: target) }
  }

  /// Makes `target` the target and sends the message to it.
  public func invoke(on target: AnyObject?) throws {
    try setTarget(target)
    guard let target else { return try invoke() }
    try dispatch(to: target)
  }

  /// Sends the message to ``target`` as the superclass of `type` answers it: what `super` does in
  /// a method of `type`.
  public func invokeSuper(of type: AnyClass) throws {
    try plan.checkMethod()
    guard let selector else { throw InvocationError.selectorNotSet }
    guard let target else { return record.answerZero() }
    record.forgetResult()
    guard let method = MethodTable.of(type).superclass?.resolved(selector) else {
      throw InvocationError.unrecognizedSelector(
        className: _getSuperclass(type).map { "\($0)" } ?? "nil", selector: selector.name,
        nearest: nil)
    }
    try plan.check(method, selector)
    try withExtendedLifetime(target) { try record.perform(method) }
  }

  /// Sends the message to another object without keeping it: target, and who owns it, are as
  /// before when this returns. The object must be held by the caller.
  package func send(to other: AnyObject) throws {
    try plan.checkMethod()
    let slot = record.slot(0)
    let word = slot.word
    let owned = record.owns(0)
    record.setOwns(0, false)
    slot.word = OwnedObject.address(of: other)
    defer {
      // Whoever forwarded may have set a target of its own.
      if record.owns(0) { record.releaseOwned(0) }
      slot.word = word
      record.setOwns(0, owned)
    }
    try dispatch(to: other)
  }

  /// Finds the method of `target` and performs it, or forwards. The receiver's word is set.
  private func dispatch(to target: AnyObject) throws {
    let known = try record.performKnownMethod(of: target) { table in
      record.forgetResult()
      try ask(target, table)
    }
    if known { return }
    // An older result must not pass for the answer to a message that is refused on its way.
    record.forgetResult()
    guard let selector else { throw InvocationError.selectorNotSet }
    let (table, method) = MethodLookup.find(type(of: target), selector)
    guard let method else { return try ask(target, table) }
    try plan.check(method, selector)
    try record.perform(method)
  }

  /// Asks an object that its class has no answer for: whether it has a method of its own, and if
  /// not, to forward.
  private func ask(_ target: AnyObject, _ table: MethodTable) throws {
    guard let selector else { throw InvocationError.selectorNotSet }
    if let method = table.ownOrClassMethod(of: target, for: selector) {
      try plan.check(method, selector)
      return try record.perform(method)
    }
    guard let forwarding = table.forwarding(target) else {
      throw InvocationError.unrecognized(selector, by: target)
    }
    try forward(selector, to: target, forwarding)
  }

  /// The method that an object's class has for the selector; nil if the object must be asked
  /// itself, because it has methods of its own or none at all. Throws if the types differ.
  package func directMethod(of target: AnyObject) throws(InvocationError) -> Implementation? {
    guard let selector else { throw .selectorNotSet }
    guard let method = MethodLookup.find(type(of: target), selector).1 else { return nil }
    try plan.check(method, selector)
    return method
  }

  /// Performs a method that was found for an object, which the caller holds; the target is as
  /// before when this returns.
  package func perform(_ method: Implementation, on object: AnyObject) throws {
    let slot = record.slot(0)
    let word = slot.word
    slot.word = OwnedObject.address(of: object)
    defer { slot.word = word }
    try record.perform(method)
  }

  // MARK: The steps after the resolver

  private func forward(
    _ selector: Selector, to target: AnyObject, _ forwarding: any MessageForwarding
  ) throws {
    try ForwardingDepth.enter(target, self, selector)
    defer { ForwardingDepth.leave() }
    if let other = forwarding.forwardingTarget(for: selector), other !== target {
      try withExtendedLifetime(other) { try send(to: other) }
      return
    }
    guard let signature = forwarding.methodSignature(for: self, selector) else {
      try forwarding.unrecognizedSelector(selector)
      // An object that knows better than to throw has answered with nothing.
      record.answerZero()
      return
    }
    guard signature == plan.signature else {
      throw InvocationError.signatureMismatch(
        name: selector.name, expected: "\(signature)", given: "\(plan.signature)")
    }
    let slot = record.slot(0)
    let receiver = slot.word
    let ownsReceiver = record.owns(0)
    record.setOwns(0, false)
    defer {
      if record.owns(0) { record.releaseOwned(0) }
      slot.word = receiver
      record.setOwns(0, ownsReceiver)
      record.setSelector(selector)
    }
    try forwarding.forward(self)
  }
}

extension CallRecord {
  /// Performs the method that the class of `target` is known to have; false if nothing is known of
  /// it. Where it is known to have none that fits at once, `other` is to find what answers.
  @inline(__always)
  func performKnownMethod(
    of target: AnyObject, other: (MethodTable) throws -> Void
  ) throws -> Bool {
    let thread = unsafe fwd_thread()
    let type = UInt(bitPattern: ObjectIdentifier(Swift.type(of: target)))
    guard let thread = unsafe thread,
      let method = unsafe fwd_method_hold(thread, type, UInt(slot(1).word))
    else { return false }
    if unsafe method.pointee.plan == planHandle {
      defer { unsafe fwd_let_go(thread) }
      try unsafe perform(method)
      return true
    }
    let asksObject = unsafe method.pointee.implementation == nil
    let table = unsafe MethodTable.known(method.pointee.table)
    unsafe fwd_let_go(thread)
    guard asksObject, let table else { return false }
    try other(table)
    return true
  }
}

extension CallPlan {
  func check(_ method: Implementation, _ selector: Selector) throws(InvocationError) {
    guard isInterchangeable(with: method.plan) else {
      throw .signatureMismatch(
        name: selector.name, expected: "\(method.signature)", given: "\(signature)")
    }
  }
}

/// How deep this thread is in forwarding, and through whom.
package enum ForwardingDepth {
  /// How many forwarding steps may be inside of each other on one thread.
  package static let limit = Int(FWD_FORWARDING_DEPTH)

  /// Enters a step; throws if the same invocation passes through the same object again, or at the
  /// limit. Every success is followed by one ``leave()``.
  ///
  /// - Parameter owner: who is named in an error, if `object` only stands for it.
  package static func enter(
    _ object: AnyObject, _ invocation: Invocation, _ selector: Selector, for owner: AnyObject? = nil
  ) throws(InvocationError) {
    if !invocation.path.isEmpty, invocation.path.contains(where: { $0 === object }) {
      throw .forwardingCycle(className: "\(type(of: owner ?? object))", selector: selector.name)
    }
    let status = unsafe fwd_forwarding_enter(
      Unmanaged.passUnretained(object).toOpaque(), UInt(invocation.message))
    switch status {
    case .entered: return
    case .cycle:
      throw .forwardingCycle(className: "\(type(of: owner ?? object))", selector: selector.name)
    case .tooDeep: throw .forwardedTooDeeply(limit: limit, selector: selector.name)
    }
  }

  /// Asks an object a question that it may pass on to others, unless it is being asked already, or
  /// questions are nested too deeply.
  package static func asking<Answer>(
    _ object: AnyObject, ifAskedAlready default: Answer, _ body: () -> Answer
  ) -> Answer {
    let address = unsafe Unmanaged.passUnretained(object).toOpaque()
    guard unsafe fwd_forwarding_enter(address, 0) == .entered else { return `default` }
    defer { leave() }
    return body()
  }

  package static func leave() { fwd_forwarding_leave() }
}
