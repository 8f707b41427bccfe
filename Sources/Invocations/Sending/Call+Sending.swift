// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

// The path of every send: look up the method that the receiver's class is known to have, and
// perform it. Unusual cases are in functions of their own, which are not inlined, because their
// prologues would slow down every send.
extension Call {
  /// Sends a message with a selector that was compared with the plan, in a call that does not own
  /// its receiver. A nil target has the result zero. The receiver stays in the frame after the
  /// send, although only the caller retains it.
  @usableFromInline
  func send(compared selector: Selector, to target: AnyObject?) throws {
    setSelector(selector)
    // The address is used, because an object in a variable would be retained.
    let address = OwnedWord(target, isOwned: false).word
    guard let object = unsafe UnsafeRawPointer(bitPattern: UInt(address)) else {
      return answerWithZero()
    }
    try send(to: unsafe BorrowedObject(object), selector)
  }

  @inline(__always)
  private func send(to receiver: BorrowedObject, _ selector: Selector) throws {
    receiverWord = UInt64(UInt(bitPattern: unsafe receiver.address))
    try unsafe performKnownMethod(of: receiver, UInt64(selector.word), isKept: false) {
      try unsafe sendCarefully($0, receiver)
    }
  }

  /// Performs the method that the class of the receiver is known to have, if it fits the plan and
  /// is ready. Calls `otherwise` with the lookup's result, which is held, if not.
  ///
  /// The receiver and the selector are in the frame, and are passed too, because loading them right
  /// after the store is slow. The caller retains the receiver; a retain here would cost more than
  /// the call.
  ///
  /// - Parameter isKept: whether the method may find the call, as an invocation or where it was
  ///   recorded.
  @inline(__always)
  func performKnownMethod(
    of receiver: BorrowedObject, _ selector: UInt64, isKept: Bool,
    otherwise: (FWDHeldMethod) throws -> Void
  ) throws {
    let held = unsafe fwd_method_held(receiver.typeWord, selector)
    guard let method = unsafe held.method, let thread = unsafe held.thread,
      let hold = unsafe held.hold, unsafe fwd_method_is_ready(method, facts) != 0
    else { return try unsafe otherwise(held) }
    defer { unsafe fwd_let_go_from(thread, hold) }
    try unsafe performReady(method.pointee.function, method.pointee.implementation, isKept: isKept)
  }

  /// Performs a method that is ready: its types are those of the plan, and it leaves no owned result. A
  /// function is called; the implementation performs a method without one.
  @unsafe
  @inline(__always)
  func performReady(
    _ function: UnsafeRawPointer?, _ implementation: UnsafeRawPointer?, isKept: Bool
  ) throws {
    // No other code finds a call on the stack, so its result flag can be set before the call.
    if isKept { unsafe state.pointee.uses &+= 1 } else { hasResult = returnsValue }
    if let function = unsafe function {
      unsafe fwd_call(facts, head, function)
    } else {
      do {
        try unsafe Unmanaged<Implementation>.fromOpaque(implementation.unsafelyUnwrapped)
          ._withUnsafeGuaranteedRef { try unsafe $0.body(FrameReference(frame)) }
      } catch {
        // The body may have set a result before it threw.
        if isKept { unsafe state.pointee.uses &-= 1 }
        hasResult = false
        throw error
      }
    }
    if isKept {
      unsafe state.pointee.uses &-= 1
      hasResult = returnsValue
    }
  }

  /// Performs a method that a lookup has found and that is not ready, and ends the hold. Returns false if
  /// the cache has no method that fits: the class must be asked.
  @unsafe
  @inline(__always)
  func performCarefully(_ held: FWDHeldMethod) throws -> Bool {
    guard let method = unsafe held.method, let thread = unsafe held.thread,
      let hold = unsafe held.hold
    else { return false }
    defer { unsafe fwd_let_go_from(thread, hold) }
    if unsafe method.pointee.plan == facts.pointee.identity {
      try unsafe perform(method)
      return true
    }
    guard let function = unsafe method.pointee.function, unsafe isNative(method.pointee.plan) else {
      return false
    }
    try unsafe callFunctionTranslating(
      at: function, returnsRetained: method.pointee.returns_retained != 0)
    return true
  }

  /// The receiver, which was set and is retained.
  @inline(__always)
  var receiver: BorrowedObject {
    // SAFETY: callers know that the receiver is not nil, and that it is retained.
    unsafe BorrowedObject(UnsafeRawPointer(bitPattern: UInt(receiverWord)).unsafelyUnwrapped)
  }

  /// The words of arguments 0 and 1 of a method: the receiver and the selector.
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

// Sends of calls on the stack whose object must be asked, or whose method must be looked up.
extension Call {
  @unsafe
  @inline(never)
  private func sendCarefully(_ held: FWDHeldMethod, _ receiver: BorrowedObject) throws {
    if try unsafe performCarefully(held) { return }
    let (table, method) = MethodTable.find(receiver.type, Selector(word: UInt(selectorWord)))
    if method == nil, let type = table.forwarding?.callType {
      return try receiver.forward(self, as: type)
    }
    try sendByInvocation { try $0.ask(receiver) }
  }

  /// Dispatches the call as an invocation, which the object may inspect or retain.
  @inline(never)
  private func sendByInvocation(_ dispatch: (Invocation) throws -> Void) throws {
    try replacingResult {
      try unsafe unmanagedPlan._withUnsafeGuaranteedRef { plan in
        try SpareInvocations.withOne(plan) { spare in
          spare.call.borrow(from: self)
          // A retained invocation must not refer to a target that it does not retain.
          defer {
            spare.call.receiverWord = 0
            adoptUnanswered(of: spare.call)
          }
          try dispatch(spare)
          adoptResult(of: spare.call)
        }
      }
    }
  }
}

extension CallPlan {
  /// Returns the implementation that answers calls of this plan: the method, or its variant without a
  /// result.
  ///
  /// - Throws: ``InvocationError`` if the types differ.
  func check(
    _ method: Implementation, _ selector: Selector
  ) throws(InvocationError) -> Implementation {
    if let answering = method.answering(self) { return answering }
    throw mismatch(selector.name, method.signature, of: method.plan)
  }
}

extension Call {
  /// Throws if code that ran on the release of a hold replaced the receiver of the call.
  func check(_ receiver: BorrowedObject) throws(InvocationError) {
    guard unsafe slot(0).word == UInt64(UInt(bitPattern: receiver.address)) else {
      throw .argumentInUse(index: 0)
    }
  }

  /// Throws if a method has other types, or if it is C code that does not take the receiver.
  func check(
    _ method: Implementation, _ selector: Selector
  ) throws(InvocationError) -> Implementation {
    let answering = try plan.check(method, selector)
    try answering.checkReceiver(slot(0).object)
    return answering
  }
}
