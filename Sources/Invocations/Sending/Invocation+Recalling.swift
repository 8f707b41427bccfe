// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

// An invocation that is sent repeatedly to objects of one class caches the method, so the next send
// needs neither a lookup nor a hold. A change of the method in the class invalidates the cache.
extension Invocation {
  /// Looks up the method of the receiver and performs it, or forwards. The receiver is set, not
  /// nil, and retained by the caller.
  func dispatch() throws {
    if try performRecalled() { return }
    try dispatchAnew()
  }

  /// Performs the cached method, if it is the one that the receiver has now. Returns false,
  /// without having called anything, if the method must be looked up or there is no receiver.
  @inline(__always)
  func performRecalled() throws -> Bool {
    // Only an invocation of a method caches one.
    guard let implementation = unsafe recalled.pointee.implementation,
      let receiver = unsafe UnsafeRawPointer(bitPattern: UInt(call.receiverWord))
    else { return false }
    guard
      unsafe fwd_recalled_is_right(
        recalled, BorrowedObject(receiver).typeWord, call.selectorWord) != 0
    else { return false }
    let call = call
    try unsafe Unmanaged<Implementation>.fromOpaque(implementation)._withUnsafeGuaranteedRef {
      try unsafe call.performReady($0.function?.address, implementation, isKept: true)
    }
    return true
  }

  @inline(never)
  func dispatchAnew() throws {
    let receiver = call.receiver
    // A release may run any code, which may have this call. The target is lent meanwhile, so that
    // it cannot be replaced, and the old cached method is released after the send.
    let old = unsafe call.lendingTarget { unsafe recall(receiver.typeWord) }
    defer { unsafe letGo(old) }
    try dispatchByLookup(receiver)
  }

  private func letGo(_ method: Unmanaged<Implementation>?) {
    if let method = unsafe method { call.lendingTarget { unsafe method.release() } }
  }

  /// Caches the method of a class the second time that it is used, if it is ready for direct calls.
  /// Returns the old cached method, which the caller releases.
  private func recall(_ type: UInt) -> Unmanaged<Implementation>? {
    // The cached method may be running further up the stack.
    guard unsafe call.state.pointee.uses == 0 else { return nil }
    let recalled = unsafe recalled
    let selector = UInt(call.selectorWord)
    let isKnown = unsafe recalled.pointee.type == type && recalled.pointee.selector == selector
    let old = unsafe takeMethod()
    unsafe recalled.pointee.type = type
    unsafe recalled.pointee.selector = selector
    guard isKnown else { return unsafe old }
    // Read before the lookup, so that a change in between invalidates the cached method.
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
    // Last, because it may run any code.
    unsafe fwd_let_go_from(thread, hold)
    return unsafe old
  }

  /// Clears the cache, and returns the method that was in it.
  private func takeMethod() -> Unmanaged<Implementation>? {
    let old = unsafe recalled.pointee.implementation
    unsafe recalled.pointee.type = 0
    unsafe recalled.pointee.implementation = nil
    return unsafe old.map { unsafe .fromOpaque($0) }
  }

  /// Releases the cached method. Only for an invocation that no other code uses.
  func forgetMethod() { unsafe takeMethod()?.release() }
}
