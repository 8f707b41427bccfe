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
    // Held by whoever calls this: a `deinit` of the former target may have set another one.
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

  /// Sends the message to another object without keeping it: target, and who owns it, are as
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
      // Whoever forwarded may have set a target of its own.
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
      let (table, method) = record.lendingTarget { MethodLookup.find(type, selector) }
      guard let method else { return try unsafe ask(Unmanaged.passUnretained(table), receiver) }
      try record.check(method, selector)
      try record.perform(method)
    }
  }

  /// Asks an object that its class has no answer for: whether it has a method of its own, and if
  /// not, to forward.
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
    guard let method = MethodLookup.find(type(of: target), selector).1 else { return nil }
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
      // An object that knows better than to throw has answered with nothing.
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

extension CallRecord {
  /// What is known of the receiver's class and the selector.
  @safe
  enum KnownMethod {
    /// A method that fits, and it was performed.
    case performed
    /// No method that fits at once: the object must be asked, or told that the types differ.
    case asks(Unmanaged<MethodTable>)
    case unknown
  }

  /// Performs the method that the class of the receiver is known to have. Receiver and selector
  /// are in the frame, and given all the same, as what was just stored is slow to load. The caller
  /// holds the receiver; to retain it here would cost more than the call.
  @inline(__always)
  func performKnownMethod(
    of receiver: HeldObject, _ selector: UInt64
  ) throws -> KnownMethod {
    let type = unsafe receiver.with(as: AnyObject.self) {
      UInt(bitPattern: ObjectIdentifier(Swift.type(of: $0)))
    }
    let sent = unsafe fwd_send(facts, state, type, selector)
    switch unsafe sent.what {
    case .done: return .performed
    case .held:
      guard let method = unsafe sent.method, let thread = unsafe sent.thread else {
        return .unknown
      }
      defer { unsafe fwd_let_go_from(thread, sent.index, 0) }
      try unsafe performHeld(method)
      return .performed
    case .ask:
      guard let table = unsafe sent.table else { return .unknown }
      // A table lives as long as the process.
      return unsafe .asks(Unmanaged<MethodTable>.fromOpaque(table))
    case .unknown: return .unknown
    }
  }

  @unsafe
  @inline(__always)
  private func performHeld(_ method: UnsafePointer<FWDMethod>) throws {
    guard unsafe method.pointee.is_plain != 0, unsafe method.pointee.function == nil,
      let implementation = unsafe method.pointee.implementation
    else { return try unsafe perform(method) }
    unsafe state.pointee.uses &+= 1
    do {
      try unsafe Unmanaged<Implementation>.fromOpaque(implementation)._withUnsafeGuaranteedRef {
        try unsafe $0.body(FrameReference(frame))
      }
    } catch {
      unsafe state.pointee.uses &-= 1
      // The body may have set a result before it threw.
      hasResult = false
      throw error
    }
    unsafe state.pointee.uses &-= 1
    hasResult = returnsValue
  }

  /// The receiver, which was set and is held.
  @inline(__always)
  var receiver: HeldObject {
    // SAFETY: only asked for where the receiver is not nil, by those who know that it is held.
    unsafe HeldObject(UnsafeRawPointer(bitPattern: UInt(slot(0).word)).unsafelyUnwrapped)
  }
}

extension CallPlan {
  func check(_ method: Implementation, _ selector: Selector) throws(InvocationError) {
    guard isInterchangeable(with: method.plan) else {
      throw .signatureMismatch(
        name: selector.name, expected: method.signature, given: signature)
    }
  }
}

extension CallRecord {
  /// Refuses to go on with a call whose receiver was replaced, by code that a lock's end let run.
  func check(_ receiver: HeldObject) throws(InvocationError) {
    guard unsafe slot(0).word == UInt64(UInt(bitPattern: receiver.address)) else {
      throw .targetInUse
    }
  }

  /// Refuses a method of other types, and C code that does not take the receiver.
  func check(_ method: Implementation, _ selector: Selector) throws(InvocationError) {
    try plan.check(method, selector)
    try checkReceiver(of: method)
  }

  /// Refuses C code that does not take the receiver, as it is when the call is about to begin.
  func checkReceiver(of method: Implementation) throws(InvocationError) {
    guard method.function != nil, method.receiver != nil else { return }
    try checkReceiver(of: method, OwnedObject.object(at: slot(0).word))
  }

  func checkReceiver(
    of method: Implementation, _ object: AnyObject?
  ) throws(InvocationError) {
    guard method.function != nil, let expected = method.receiver else { return }
    if let object, method.takes(type(of: object)) { return }
    throw .wrongClass(
      expected: SwiftType(expected), given: object.map { SwiftType(type(of: $0)) })
  }
}

/// How deep this thread is in forwarding, and through whom.
package enum ForwardingDepth {
  /// How many forwarding steps may be inside of each other on one thread.
  package static let limit = Int(FWD_FORWARDING_DEPTH)

  /// Whether this thread is forwarding, or delivering, anything.
  package static var isInside: Bool {
    guard let thread = unsafe fwd_thread() else { return true }
    return unsafe thread.pointee.depth > 0
  }

  /// Enters a step; throws if the same invocation passes through the same object again, or at the
  /// limit. Every success is followed by one ``leave()``.
  ///
  /// - Parameter owner: who is named in an error.
  @inline(__always)
  package static func enter(
    _ object: AnyObject, _ call: LentCall, _ selector: Selector, for owner: AnyObject
  ) throws(InvocationError) {
    try unsafe enter(Unmanaged.passUnretained(object).toOpaque(), call, selector) {
      type(of: owner)
    }
  }

  @unsafe
  @inline(__always)
  static func enter(
    _ object: UnsafeRawPointer, _ call: LentCall, _ selector: Selector, _ type: () -> AnyClass
  ) throws(InvocationError) {
    let thread = unsafe fwd_thread()
    var status = unsafe fwd_forwarding_enter(thread, object, call.record.message)
    if status == .entered, unsafe call.hasPassed(object) {
      unsafe fwd_forwarding_leave(thread)
      status = .cycle
    }
    switch status {
    case .entered: return
    case .cycle: throw .forwardingCycle(selector, type: SwiftType(type()))
    case .tooDeep: throw .forwardedTooDeeply(selector, limit: limit)
    case .withoutStack:
      throw stackError
    }
  }

  /// Asks an object a question that it may pass on to others, unless it is being asked already. Where
  /// questions are nested too deeply to be asked, the thread notes that.
  static func asking<Answer>(
    _ object: AnyObject, ifAskedAlready default: Answer, _ body: () -> Answer
  ) -> Answer {
    let address = unsafe Unmanaged.passUnretained(object).toOpaque()
    let thread = unsafe fwd_thread()
    let status = unsafe fwd_forwarding_enter(thread, address, 0)
    guard status == .entered else {
      if status != .cycle, let thread = unsafe thread { unsafe thread.pointee.unasked = status }
      return `default`
    }
    defer { leave() }
    return body()
  }

  /// Whether an object answers a selector. Throws where it could not be asked: a no would let a message
  /// get lost.
  package static func responds(
    _ object: AnyObject, to selector: Selector
  ) throws(InvocationError) -> Bool {
    let thread = unsafe fwd_thread()
    if let thread = unsafe thread { unsafe thread.pointee.unasked = .entered }
    if Introspection.responds(object, to: selector) { return true }
    guard let thread = unsafe thread else { throw .outOfMemory }
    switch unsafe thread.pointee.unasked {
    case .entered, .cycle: return false
    case .tooDeep: throw .forwardedTooDeeply(selector, limit: limit)
    case .withoutStack: throw stackError
    }
  }

  private static var stackError: InvocationError {
    unsafe .notEnoughStack(needed: Int(FWD_FORWARDING_STACK), left: Int(fwd_stack_left()))
  }

  package static func leave() { unsafe fwd_forwarding_leave(fwd_thread()) }
}
