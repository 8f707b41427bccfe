import CForwardingShims

extension Call {
  /// What is known of the receiver's class and the selector.
  @safe
  enum KnownMethod {
    /// A method that fits, and it was performed.
    case performed
    /// No method that fits at once: the object must be asked, or the types differ.
    case asks(Unmanaged<MethodTable>)
    case unknown
  }

  /// Performs the method that the class of the receiver is known to have. Receiver and selector are
  /// in the frame, and are passed as well, because what was just stored is slow to load. The caller
  /// holds the receiver; to retain it here would cost more than the call.
  @inline(__always)
  func performKnownMethod(
    of receiver: BorrowedObject, _ selector: UInt64
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
    guard unsafe method.pointee.is_light != 0, unsafe method.pointee.function == nil,
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
  var receiver: BorrowedObject {
    // SAFETY: callers know that the receiver is not nil, and that it is held.
    unsafe BorrowedObject(UnsafeRawPointer(bitPattern: UInt(slot(0).word)).unsafelyUnwrapped)
  }
}

extension CallPlan {
  /// Returns what answers calls of this plan: a method, or its twin without a result.
  func check(
    _ method: Implementation, _ selector: Selector
  ) throws(InvocationError) -> Implementation {
    if let answering = method.answering(self) { return answering }
    throw .signatureMismatch(name: selector.name, expected: method.signature, given: signature)
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
