import CForwardingShims
import TypeEncodings

extension Invocation {
  /// Sends the message to ``target``.
  ///
  /// An object without a method for the selector goes through the steps of ``MessageForwarding``.
  /// A nil target is not called: the result is zero then, and available. Rethrows what a Swift
  /// method throws; the result is not available after that.
  public func invoke() throws {
    try checkMethod()
    guard let target else {
      guard selector != nil else { throw InvocationError.selectorNotSet }
      answerZero()
      return
    }
    try withExtendedLifetime(target) { try dispatch(to: target) }
  }

  /// Makes `target` the target and sends the message to it.
  public func invoke(on target: AnyObject?) throws {
    try setTarget(target)
    try invoke()
  }

  /// Sends the message to ``target`` as the superclass of `type` answers it: what `super` does in
  /// a method of `type`.
  public func invokeSuper(of type: AnyClass) throws {
    try checkMethod()
    guard let selector else { throw InvocationError.selectorNotSet }
    guard let target else { return answerZero() }
    forgetResult()
    guard let method = MethodTable.of(type).superclass?.resolved(selector) else {
      throw InvocationError.unrecognizedSelector(
        className: _getSuperclass(type).map { "\($0)" } ?? "nil", selector: selector.name,
        nearest: nil)
    }
    try checkPlan(method, selector)
    try withExtendedLifetime(target) { try perform(method) }
  }

  /// Sends the message to another object without keeping it: target, and who owns it, are as
  /// before when this returns. The object must be held by the caller.
  package func send(to other: AnyObject) throws {
    try checkMethod()
    let slot = slot(0)
    let word = slot.word
    let owned = owns(0)
    setOwns(0, false)
    slot.word = OwnedObject.address(of: other)
    defer {
      // Whoever forwarded may have set a target of its own.
      if owns(0) { releaseOwned(0) }
      slot.word = word
      setOwns(0, owned)
    }
    try dispatch(to: other)
  }

  /// The method that an object's class has for the selector; nil if the object must be asked
  /// itself, because it has methods of its own or none at all. Throws if the types differ.
  ///
  /// The answer is remembered until the class, the selector, or anything about classes changes.
  package func directMethod(of target: AnyObject) throws(InvocationError) -> Implementation? {
    let word = slot(1).word
    let type = UInt64(UInt(bitPattern: ObjectIdentifier(type(of: target))))
    let epoch = MethodTable.epoch
    if unsafe state.pointee.cached_class == type, unsafe state.pointee.cached_selector == word,
      unsafe state.pointee.cached_epoch == epoch
    {
      return cachedMethod
    }
    guard let selector else { throw .selectorNotSet }
    guard !(target is any MethodHolding),
      let method = MethodTable.of(Swift.type(of: target)).resolved(selector)
    else { return nil }
    try checkPlan(method, selector)
    unsafe state.pointee.cached_class = type
    unsafe state.pointee.cached_selector = word
    unsafe state.pointee.cached_epoch = Int64(epoch)
    cachedMethod = method
    return method
  }

  /// Performs a method that was found for an object, which the caller holds; the target is as
  /// before when this returns.
  package func perform(_ method: Implementation, on object: AnyObject) throws {
    let slot = slot(0)
    let word = slot.word
    slot.word = OwnedObject.address(of: object)
    defer { slot.word = word }
    try perform(method)
  }

  /// Finds the method of `target` and performs it, or forwards. The receiver's word is set.
  private func dispatch(to target: AnyObject) throws {
    let direct: Implementation?
    do {
      direct = try directMethod(of: target)
    } catch {
      forgetResult()
      throw error
    }
    if let direct { return try perform(direct) }
    // An older result must not pass for the answer to a message that is refused on its way.
    forgetResult()
    guard let selector else { throw InvocationError.selectorNotSet }
    guard let method = Messaging.implementation(of: target, for: selector) else {
      return try forward(selector, to: target)
    }
    try checkPlan(method, selector)
    try perform(method)
  }

  private func checkPlan(_ method: Implementation, _ selector: Selector) throws(InvocationError) {
    guard plan.isInterchangeable(with: method.plan) else {
      throw .signatureMismatch(
        name: selector.name, expected: "\(method.signature)", given: "\(plan.signature)")
    }
  }

  // MARK: The steps after the resolver

  private func forward(_ selector: Selector, to target: AnyObject) throws {
    guard let forwarding = target as? any MessageForwarding else {
      throw InvocationError.unrecognized(selector, by: target)
    }
    try ForwardingDepth.enter(target, self, selector)
    defer { ForwardingDepth.leave() }
    if let other = forwarding.forwardingTarget(for: selector), other !== target {
      try withExtendedLifetime(other) { try send(to: other) }
      return
    }
    guard let signature = forwarding.methodSignature(for: self, selector) else {
      try forwarding.unrecognizedSelector(selector)
      // An object that knows better than to throw has answered with nothing.
      answerZero()
      return
    }
    guard signature == plan.signature else {
      throw InvocationError.signatureMismatch(
        name: selector.name, expected: "\(signature)", given: "\(plan.signature)")
    }
    let receiver = slot(0).word
    let ownsReceiver = owns(0)
    setOwns(0, false)
    defer {
      if owns(0) { releaseOwned(0) }
      slot(0).word = receiver
      setOwns(0, ownsReceiver)
      slot(1).word = UInt64(selector.word)
    }
    try forwarding.forward(self)
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
    let named = owner ?? object
    if invocation.path.contains(where: { $0 === object }) {
      throw .forwardingCycle(className: "\(type(of: named))", selector: selector.name)
    }
    let status = unsafe fwd_forwarding_enter(
      Unmanaged.passUnretained(object).toOpaque(), invocation.message)
    switch status {
    case .entered: return
    case .cycle:
      throw .forwardingCycle(className: "\(type(of: named))", selector: selector.name)
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
