// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The nesting of forwarding steps on this thread, with the objects that forward.
package enum ForwardingDepth {
  /// The maximum number of nested forwarding steps on one thread.
  package static let limit = Int(FWD_FORWARDING_DEPTH)

  /// Whether this thread is forwarding or delivering a message.
  package static var isInside: Bool {
    guard let thread = unsafe fwd_thread() else { return true }
    return unsafe thread.pointee.depth > 0
  }

  /// Enters a forwarding step. One ``leave()`` must follow each success.
  ///
  /// - Parameters:
  ///   - object: the object that forwards.
  ///   - call: the call that it forwards.
  ///   - selector: the selector, for errors.
  ///   - owner: the object whose class an error names.
  /// - Throws: `forwardingCycle` if the same message passes the same object again;
  ///   `forwardedTooDeeply` at the limit; `notEnoughStack` if little stack is left.
  @inline(__always)
  package static func enter(
    _ object: AnyObject, _ call: Call, _ selector: Selector, for owner: AnyObject
  ) throws(InvocationError) {
    let address = unsafe UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    let thread = unsafe fwd_thread()
    var status = unsafe fwd_forwarding_enter(thread, address, call.message)
    if status == .entered, unsafe call.hasPassed(address) {
      unsafe fwd_forwarding_leave(thread)
      status = .cycle
    }
    switch status {
    case .entered: return
    case .cycle: throw .forwardingCycle(selector, type: SwiftType(type(of: owner)))
    case .tooDeep: throw .forwardedTooDeeply(selector, limit: limit)
    case .withoutStack: throw stackError
    }
  }

  /// Asks an object a question that it may pass on to others, unless it is already being asked. If
  /// the nesting is too deep to ask, the thread notes that, and the answer is `default`.
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

  /// Whether an object answers a selector.
  ///
  /// - Throws: `outOfMemory`, `forwardedTooDeeply` or `notEnoughStack` if the object could not be
  ///   asked. The answer false would lose a message.
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

  /// Whether this thread can enter another step.
  static var canEnter: Bool {
    guard let thread = unsafe fwd_thread() else { return false }
    let depth = unsafe thread.pointee.depth
    return depth < UInt32(limit) && fwd_has_stack_for_step(depth) != 0
  }

  /// Why this thread cannot enter another step.
  static func refusal(_ selector: Selector) -> InvocationError {
    guard let thread = unsafe fwd_thread() else { return .outOfMemory }
    return unsafe thread.pointee.depth >= UInt32(limit)
      ? .forwardedTooDeeply(selector, limit: limit) : stackError
  }

  private static var stackError: InvocationError {
    unsafe .notEnoughStack(needed: Int(FWD_FORWARDING_STACK), left: Int(fwd_stack_left()))
  }

  package static func leave() { unsafe fwd_forwarding_leave(fwd_thread()) }
}

extension Call {
  /// Runs code that sends the call to another object, as a forwarding step of `owner`, for which
  /// `object` may stand among the steps.
  ///
  /// - Throws: `forwardingCycle` if the same message passes the same object again;
  ///   `forwardedTooDeeply` at the limit; `notEnoughStack` if little stack is left; or the error of
  ///   `step`.
  package func forwarding(
    by owner: AnyObject, as object: AnyObject? = nil, _ step: () throws -> Void
  ) throws {
    guard let selector else { throw InvocationError.selectorNotSet }
    try ForwardingDepth.enter(object ?? owner, self, selector, for: owner)
    defer { ForwardingDepth.leave() }
    try step()
  }
}
