public import CForwardingShims

// The way of every send: find the method that the receiver's class is known to have, and perform it. What
// is not usual is in functions of its own, which are not inlined: their needs would cost every send.
extension Call {
  /// Sends a message whose selector was compared with the plan, and whose receiver nobody owns yet; nil
  /// answers zero. The receiver is found in the frame afterwards, although only the caller holds it.
  @usableFromInline
  func send(compared selector: Selector, to target: AnyObject?) throws {
    try send(compared: selector, to: target, isKept: false)
  }

  /// The same for a call that code which runs meanwhile may find, as that of who recorded it by hand: what it
  /// holds cannot be replaced.
  func sendGuarded(compared selector: Selector, to target: AnyObject?) throws {
    try inUse { try send(compared: selector, to: target, isKept: true) }
  }

  @inline(__always)
  private func send(compared selector: Selector, to target: AnyObject?, isKept: Bool) throws {
    setSelector(selector)
    // As an address: an object in a variable of its own would be retained.
    let address = OwnedWord(target, isOwned: false).word
    guard let object = unsafe UnsafeRawPointer(bitPattern: UInt(address)) else {
      return answerWithZero()
    }
    receiverWord = address
    let receiver = unsafe BorrowedObject(object)
    try unsafe performKnownMethod(of: receiver, UInt64(selector.word), isKept: isKept) {
      try unsafe sendCarefully($0, receiver)
    }
  }

  /// Performs the method that the class of the receiver is known to have, if it fits and needs no care;
  /// if not, hands on what was found, held, to `otherwise`. Receiver and selector are in the frame, and
  /// are passed as well, because what was just stored is slow to load. The caller holds the receiver; to
  /// retain it here would cost more than the call. `isKept` says whether the method may find the call,
  /// as an invocation or where it was recorded.
  @inline(__always)
  func performKnownMethod(
    of receiver: BorrowedObject, _ selector: UInt64, isKept: Bool,
    otherwise: (FWDHeldMethod) throws -> Void
  ) throws {
    let type = unsafe receiver.with(as: AnyObject.self) {
      UInt(bitPattern: ObjectIdentifier(Swift.type(of: $0)))
    }
    let held = unsafe fwd_method_held(type, selector)
    guard let method = unsafe held.method, let thread = unsafe held.thread,
      let hold = unsafe held.hold, unsafe fwd_method_is_ready(method, facts) != 0
    else { return try unsafe otherwise(held) }
    // What is only on the stack nobody finds: what is written before the call needs no look after it.
    if isKept { unsafe state.pointee.uses &+= 1 } else { hasResult = returnsValue }
    if let function = unsafe method.pointee.function {
      unsafe fwd_call(facts, head, function)
    } else {
      // SAFETY: a method that is ready and no function has a body.
      let implementation = unsafe method.pointee.implementation.unsafelyUnwrapped
      do {
        try unsafe Unmanaged<Implementation>.fromOpaque(implementation)._withUnsafeGuaranteedRef {
          try unsafe $0.body(FrameReference(frame))
        }
      } catch {
        // The body may have set a result before it threw.
        if isKept { unsafe state.pointee.uses &-= 1 }
        hasResult = false
        unsafe fwd_let_go_from(thread, hold, 0)
        throw error
      }
    }
    if isKept {
      unsafe state.pointee.uses &-= 1
      hasResult = returnsValue
    }
    unsafe fwd_let_go_from(thread, hold, 0)
  }

  /// What became of a message whose method is not simply called.
  @safe
  enum Finding {
    /// The method was performed.
    case performed
    /// The class has no method: the object must be asked.
    case asks(Unmanaged<MethodTable>)
    /// Nothing is known, or the types differ.
    case unknown
  }

  /// Performs a method that needs care; or lets go of what was found, and says what it is.
  @unsafe
  @inline(__always)
  func performCarefully(_ held: FWDHeldMethod) throws -> Finding {
    guard let method = unsafe held.method, let thread = unsafe held.thread,
      let hold = unsafe held.hold
    else { return .unknown }
    defer { unsafe fwd_let_go_from(thread, hold, 0) }
    guard unsafe method.pointee.plan != facts.pointee.identity else {
      try unsafe perform(method)
      return .performed
    }
    guard unsafe method.pointee.implementation == nil, let table = unsafe method.pointee.table
    else {
      return .unknown
    }
    // A table lives as long as the process.
    return unsafe .asks(Unmanaged<MethodTable>.fromOpaque(table))
  }

  /// The receiver, which was set and is held.
  @inline(__always)
  var receiver: BorrowedObject {
    // SAFETY: callers know that the receiver is not nil, and that it is held.
    unsafe BorrowedObject(UnsafeRawPointer(bitPattern: UInt(receiverWord)).unsafelyUnwrapped)
  }

  /// The word of argument 0, and of argument 1, of a method.
  @inlinable
  @inline(__always)
  var receiverWord: UInt64 {
    get { unsafe frame.load(fromByteOffset: Int(facts.pointee.receiver_offset), as: UInt64.self) }
    nonmutating set {
      unsafe frame.storeBytes(
        of: newValue, toByteOffset: Int(facts.pointee.receiver_offset), as: UInt64.self)
    }
  }

  @inlinable
  @inline(__always)
  var selectorWord: UInt64 {
    get { unsafe frame.load(fromByteOffset: Int(facts.pointee.selector_offset), as: UInt64.self) }
    nonmutating set {
      unsafe frame.storeBytes(
        of: newValue, toByteOffset: Int(facts.pointee.selector_offset), as: UInt64.self)
    }
  }
}

// The ways of calls that are only on the stack, and whose object must be asked, or looked at.
extension Call {
  @unsafe
  @inline(never)
  private func sendCarefully(_ held: FWDHeldMethod, _ receiver: BorrowedObject) throws {
    switch try unsafe performCarefully(held) {
    case .performed: return
    case .asks(let table):
      if try unsafe forward(asking: table) { return }
      try sendByInvocation { try unsafe $0.ask(table, receiver) }
    case .unknown: try sendByInvocation { try $0.dispatchByLookup(receiver) }
    }
  }

  /// Passes the call on through an object that needs no invocation for it; false if it needs one.
  @unsafe
  @inline(__always)
  private func forward(asking table: Unmanaged<MethodTable>) throws -> Bool {
    try unsafe table._withUnsafeGuaranteedRef { table in
      guard let type = table.forwarding?.callType else { return false }
      try receiver.forward(self, as: type)
      return true
    }
  }

  /// Goes the long way: asks the object, which may want to see an invocation, or keep it.
  @inline(never)
  private func sendByInvocation(_ dispatch: (Invocation) throws -> Void) throws {
    try replacingResult {
      try unsafe unmanagedPlan._withUnsafeGuaranteedRef { plan in
        try SpareInvocations.withOne(plan) { spare in
          spare.call.borrow(from: self)
          // An invocation that is kept must not have a target that nobody keeps.
          defer { spare.call.receiverWord = 0 }
          try dispatch(spare)
          adoptResult(of: spare.call)
        }
      }
    }
  }
}

extension CallPlan {
  /// Returns what answers calls of this plan: a method, or its twin without a result.
  func check(
    _ method: Implementation, _ selector: Selector
  ) throws(InvocationError) -> Implementation {
    if let answering = method.answering(self) { return answering }
    throw mismatch(selector.name, method.signature, of: method.plan)
  }
}

extension Call {
  /// Refuses to go on with a call whose receiver was replaced by code that ran when a lock was let
  /// go.
  func check(_ receiver: BorrowedObject) throws(InvocationError) {
    guard unsafe slot(0).word == UInt64(UInt(bitPattern: receiver.address)) else {
      throw .targetInUse
    }
  }

  /// Refuses a method of other types, and C code that does not take the receiver.
  func check(
    _ method: Implementation, _ selector: Selector
  ) throws(InvocationError) -> Implementation {
    let answering = try plan.check(method, selector)
    try checkReceiver(of: answering)
    return answering
  }

  /// Refuses C code that does not take the receiver, as it is when the call is about to begin.
  func checkReceiver(of method: Implementation) throws(InvocationError) {
    guard method.function != nil, method.receiver != nil else { return }
    try checkReceiver(of: method, slot(0).object)
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
