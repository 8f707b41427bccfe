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
    try withExtendedLifetime(target) { try dispatch() }
  }

  /// Makes `target` the target and sends the message to it.
  public func invoke(on target: AnyObject?) throws {
    try setTarget(target)
    guard let target else { return try invoke() }
    // The caller holds `target`: a `deinit` of the former target may have set another one.
    try withExtendedLifetime(target) { try dispatch() }
  }

  /// Sends the message to ``target`` as the superclass of `type` answers it: what `super` does in
  /// a method of `type`, whose object the target must be.
  ///
  /// If no class above answers, the target forwards, as in Objective-C.
  public func invokeSuper(of type: AnyClass) throws {
    try plan.checkMethod()
    guard let selector else { throw InvocationError.selectorNotSet }
    guard let target else { return record.answerZero() }
    let own: AnyClass = Swift.type(of: target)
    guard isClass(own, below: type) else {
      throw InvocationError.wrongClass(expected: SwiftType(type), given: SwiftType(own))
    }
    let receiver = record.receiver
    try withExtendedLifetime(target) {
      // Finding a method may run code of the classes, which may know this invocation.
      let (found, table) = record.lendingTarget {
        (MethodTable.of(type).superclass?.resolved(selector), MethodTable.of(own))
      }
      try record.replacingResult {
        if let method = found {
          try record.check(method, selector)
          return try record.perform(method)
        }
        guard let steps = unsafe table.forwarding else {
          throw InvocationError.unrecognizedSelector(
            selector, type: _getSuperclass(type).map { SwiftType($0) }, nearest: nil)
        }
        try unsafe forward(selector, to: receiver, steps)
      }
    }
  }

  /// Sends the message to another object without keeping it: the target and its ownership are as
  /// before when this returns. The object must be held by the caller.
  package func send(to other: AnyObject) throws {
    try plan.checkMethod()
    let slot = record.slot(0)
    let word = slot.word
    let owned = record.owns(0)
    let isLent = record.isTargetLent
    record.setOwns(0, false)
    record.isTargetLent = false
    slot.word = OwnedObject.address(of: other)
    defer {
      // The object that forwarded may have set a target of its own.
      let other = record.takeArgument(0)
      slot.word = word
      record.setOwns(0, owned)
      record.isTargetLent = isLent
      record.letGo(other)
    }
    try dispatch()
  }

  /// Finds the method of the receiver and performs it, or forwards. The receiver is set, not nil,
  /// and held by the caller.
  func dispatch() throws {
    let receiver = record.receiver
    switch try record.performKnownMethod(of: receiver, record.slot(1).word) {
    case .performed: return
    case .asks(let table): try unsafe ask(table, receiver)
    case .unknown: try dispatchUnknown(receiver)
    }
  }

  private func dispatchUnknown(_ receiver: HeldObject) throws {
    try record.replacingResult {
      guard let selector else { throw InvocationError.selectorNotSet }
      try record.check(receiver)
      let type: AnyClass = unsafe receiver.with(as: AnyObject.self) { Swift.type(of: $0) }
      // Finding a method may run code of the class, which may know this invocation.
      let (table, method) = record.lendingTarget { MethodTable.find(type, selector) }
      guard let method else { return try unsafe ask(Unmanaged.passUnretained(table), receiver) }
      try record.check(method, selector)
      try record.perform(method)
    }
  }

  /// Asks an object whose class has no answer: whether it has a method of its own, and if not, to
  /// forward.
  func ask(_ table: Unmanaged<MethodTable>, _ target: HeldObject) throws {
    guard let selector = record.selector else { throw InvocationError.selectorNotSet }
    // An older result must not pass for the answer to a message that is refused on its way.
    try record.replacingResult {
      try record.check(target)
      try unsafe table._withUnsafeGuaranteedRef { table in
        let own = record.lendingTarget { table.ownOrClassMethod(of: target, for: selector) }
        if let method = own {
          try record.check(method, selector)
          return try record.perform(method)
        }
        guard let steps = unsafe table.forwarding else {
          throw unsafe target.with(as: AnyObject.self) {
            InvocationError.unrecognized(selector, by: $0)
          }
        }
        try unsafe forward(selector, to: target, steps)
      }
    }
  }

  private func forward(
    _ selector: Selector, to target: HeldObject, _ steps: Unmanaged<ForwardingSteps>
  ) throws {
    try unsafe steps._withUnsafeGuaranteedRef {
      if $0.forwardsCalls { return try $0.forward(target, LentCall(self)) }
      try forward(selector, to: target, $0)
    }
  }

  /// The method that an object's class has for the selector; nil if the object must be asked
  /// itself, because it has methods of its own or none at all. Throws if the types differ.
  package func directMethod(of target: AnyObject) throws(InvocationError) -> Implementation? {
    guard let selector else { throw .selectorNotSet }
    guard let method = MethodTable.find(type(of: target), selector).1 else { return nil }
    try plan.check(method, selector)
    try record.checkReceiver(of: method, target)
    return method
  }

  /// Performs a method that was found for an object, which the caller holds; the target is as
  /// before when this returns.
  package func perform(_ method: Implementation, on object: AnyObject) throws {
    let slot = record.slot(0)
    let word = slot.word
    slot.word = OwnedObject.address(of: object)
    defer { slot.word = word }
    try record.lendingTarget { try record.perform(method) }
  }

  // MARK: The steps after the resolver

  private func forward(
    _ selector: Selector, to target: HeldObject, _ steps: ForwardingSteps
  ) throws {
    try unsafe ForwardingDepth.enter(target.address, LentCall(self), selector) {
      unsafe target.with(as: AnyObject.self) { type(of: $0) }
    }
    defer { ForwardingDepth.leave() }
    if let other = record.lendingTarget({ steps.target(target, selector) }),
      unsafe Unmanaged.passUnretained(other).toOpaque() != target.address
    {
      try withExtendedLifetime(other) { try send(to: other) }
      return
    }
    switch record.lendingTarget({ steps.match(target, self, selector) }) {
    case .fits: break
    case .expects(let signature):
      throw InvocationError.signatureMismatch(
        name: selector.name, expected: signature, given: plan.signature)
    case .unknown:
      try steps.unrecognized(target, selector)
      // An object that does not throw has no answer: the answer is zero.
      record.answerZero()
      return
    }
    let slot = record.slot(0)
    let receiver = slot.word
    let owned = record.owned & 1
    let isLent = record.isTargetLent
    record.owned &= ~1
    record.isTargetLent = false
    defer {
      let other = record.takeArgument(0)
      slot.word = receiver
      record.setOwns(0, owned != 0)
      record.setSelector(selector)
      record.isTargetLent = isLent
      record.letGo(other)
    }
    try steps.forward(target, self)
  }
}
