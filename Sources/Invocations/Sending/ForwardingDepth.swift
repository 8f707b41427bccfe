import CForwardingShims

/// How deep this thread is in forwarding, and through which objects.
package enum ForwardingDepth {
  /// How many forwarding steps may be inside of each other on one thread.
  package static let limit = Int(FWD_FORWARDING_DEPTH)

  /// Whether this thread is forwarding, or delivering, anything.
  package static var isInside: Bool {
    guard let thread = unsafe fwd_thread() else { return true }
    return unsafe thread.pointee.depth > 0
  }

  /// Enters a step; throws if the same message passes through the same object again, at the limit,
  /// or where little stack is left. Every success is followed by one ``leave()``.
  ///
  /// - Parameter owner: the class that an error names.
  @inline(__always)
  package static func enter(
    _ object: AnyObject, _ call: Call, _ selector: Selector, for owner: AnyObject
  ) throws(InvocationError) {
    try unsafe enter(Unmanaged.passUnretained(object).toOpaque(), call, selector) {
      type(of: owner)
    }
  }

  @unsafe
  @inline(__always)
  static func enter(
    _ object: UnsafeRawPointer, _ call: Call, _ selector: Selector, _ type: () -> AnyClass
  ) throws(InvocationError) {
    let thread = unsafe fwd_thread()
    var status = unsafe fwd_forwarding_enter(thread, object, call.message)
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
