import CForwardingShims

// An invocation that is sent again and again to objects of one class keeps the method that it found: nothing
// is looked up then, and nothing held. A change of a class for the selector makes it look again.
extension Invocation {
  /// Finds the method of the receiver and performs it, or forwards. The receiver is set, not nil,
  /// and held by the caller.
  func dispatch() throws {
    let receiver = call.receiver
    let type = unsafe receiver.with(as: AnyObject.self) {
      UInt(bitPattern: ObjectIdentifier(Swift.type(of: $0)))
    }
    guard unsafe fwd_recalled_is_right(recalled, type, call.selectorWord) != 0,
      let implementation = unsafe recalled.pointee.implementation
    else { return try dispatchAnew(receiver, type) }
    let call = call
    unsafe call.state.pointee.uses &+= 1
    do {
      try unsafe Unmanaged<Implementation>.fromOpaque(implementation)._withUnsafeGuaranteedRef {
        if let function = $0.function {
          unsafe fwd_call(call.facts, call.head, function.address)
        } else {
          try unsafe $0.body(FrameReference(call.frame))
        }
      }
    } catch {
      // The body may have set a result before it threw.
      unsafe call.state.pointee.uses &-= 1
      call.hasResult = false
      throw error
    }
    unsafe call.state.pointee.uses &-= 1
    call.hasResult = call.returnsValue
  }

  @inline(never)
  private func dispatchAnew(_ receiver: BorrowedObject, _ type: UInt) throws {
    // The call may be the only one that has the target, which asks other code what to do.
    let held = unsafe Unmanaged<AnyObject>.fromOpaque(receiver.address).retain()
    defer { unsafe held.release() }
    // What is let go may run any code, which may know this call: nobody replaces the target meanwhile, and
    // the method that was kept goes when the send is over.
    let old = unsafe call.lendingTarget { unsafe recall(type) }
    defer { unsafe letGo(old) }
    try dispatchByLookup(receiver)
  }

  private func letGo(_ method: Unmanaged<Implementation>?) {
    if let method = unsafe method { call.lendingTarget { unsafe method.release() } }
  }

  /// Keeps the method of a class, if it needs no care, from the second time on that it is wanted. Returns the
  /// one that was kept, which is the caller's to let go.
  private func recall(_ type: UInt) -> Unmanaged<Implementation>? {
    // What runs further up the stack may be the method that is kept.
    guard unsafe call.state.pointee.uses == 0 else { return nil }
    let recalled = unsafe recalled
    let selector = UInt(call.selectorWord)
    let isKnown = unsafe recalled.pointee.type == type && recalled.pointee.selector == selector
    let old = unsafe takeMethod()
    unsafe recalled.pointee.type = type
    unsafe recalled.pointee.selector = selector
    guard isKnown else { return unsafe old }
    // Read before looking: a change in between makes what is found stale.
    let changes = unsafe fwd_method_changes(selector)
    let seen = fwd_method_epoch(selector)
    let held = unsafe fwd_method_held(type, UInt64(selector))
    guard let method = unsafe held.method, let thread = unsafe held.thread,
      let hold = unsafe held.hold
    else { return unsafe old }
    if unsafe fwd_method_is_ready(method, call.facts) != 0,
      let implementation = unsafe method.pointee.implementation
    {
      unsafe recalled.pointee.implementation = UnsafeRawPointer(
        Unmanaged<Implementation>.fromOpaque(implementation).retain().toOpaque())
      unsafe recalled.pointee.changes = changes
      unsafe recalled.pointee.seen = seen
    }
    // Last, as it may run any code.
    unsafe fwd_let_go_from(thread, hold, 0)
    return unsafe old
  }

  /// Takes out the method that is kept.
  private func takeMethod() -> Unmanaged<Implementation>? {
    let old = unsafe recalled.pointee.implementation
    unsafe recalled.pointee.type = 0
    unsafe recalled.pointee.implementation = nil
    return unsafe old.map { unsafe .fromOpaque($0) }
  }

  /// Forgets the method, for an invocation that nobody else knows.
  func forgetMethod() { unsafe takeMethod()?.release() }
}
