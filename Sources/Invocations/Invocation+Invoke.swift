public import CForwardingShims
import TypeEncodings

extension Invocation {
  // MARK: Target and selector

  /// The receiver, which is argument 0 of a method.
  public var target: AnyObject? {
    guard plan.isMethod else { return nil }
    return OwnedObject.object(at: slot(0).word)
  }

  /// Sets the receiver and retains it, until it is replaced.
  public func setTarget(_ target: AnyObject?) throws(InvocationError) {
    try checkMethod()
    try setArgument(target, at: 0)
  }

  /// Sets the receiver without retaining it.
  ///
  /// - Safety: the target must outlive every call.
  @unsafe
  public func setTarget(unretained target: AnyObject?) throws(InvocationError) {
    try checkMethod()
    unsafe try setArgument(unretained: target, at: 0)
  }

  /// The selector, which is argument 1 of a method.
  public var selector: Selector? {
    guard plan.isMethod else { return nil }
    return try? Selector.load(from: slot(1))
  }

  /// Sets the selector. It must take as many arguments as the signature declares.
  public func setSelector(_ selector: Selector) throws(InvocationError) {
    try checkMethod()
    try InvocationError.wrapping { () throws(TypeEncodingError) in
      try plan.signature.checkArity(ofSelector: selector.name)
    }
    try setArgument(selector, at: 1)
  }

  func checkMethod() throws(InvocationError) {
    guard plan.isMethod else {
      throw .notAMethod(signature: "\(plan.signature)")
    }
  }

  // MARK: Calling

  /// Calls a registered function or method with the recorded arguments, whatever its name.
  public func invoke(using implementation: Implementation) throws {
    guard plan.isInterchangeable(with: implementation.plan) else {
      throw InvocationError.signatureMismatch(
        name: "function", expected: "\(implementation.plan.signature)",
        given: "\(plan.signature)")
    }
    try perform(implementation)
  }

  /// Calls the function at an address with the recorded arguments, receiver and selector included.
  ///
  /// - Parameter returnsRetained: whether an object result is the caller's to release.
  /// - Safety: the function's C type must be the one the signature describes.
  @inlinable @unsafe
  public func invoke(
    using function: UnsafeRawPointer?, returnsRetained: Bool = false
  ) throws(InvocationError) {
    guard let function = unsafe function else { throw .nullFunction }
    guard plan.isPlainAndDirect else {
      unsafe invokeAny(function, returnsRetained: returnsRetained)
      return
    }
    // Nothing is owned of such a result, and nothing is to be kept.
    unsafe fwd_call_direct(plan.shape, frame.assumingMemoryBound(to: FWDFrame.self), function)
    hasResult = plan.returnsValue
  }

  /// Calls through any engine, and takes care of a result that may be owned.
  @usableFromInline @unsafe
  func invokeAny(_ function: UnsafeRawPointer, returnsRetained: Bool) {
    forgetResult()
    unsafe fwd_call(plan.handle, plan.engine, plan.shape, head, function)
    finish(returnsRetained: returnsRetained)
  }

  /// Calls the function at an address and gives the `errno` it left, 0 if it left none.
  ///
  /// - Safety: the function's C type must be the one the signature describes.
  @unsafe
  public func invokeCapturingErrno(
    using function: UnsafeRawPointer?, returnsRetained: Bool = false
  ) throws(InvocationError) -> Int32 {
    guard let function = unsafe function else { throw .nullFunction }
    forgetResult()
    let code = unsafe fwd_call_capturing_errno(plan.handle, head, function)
    finish(returnsRetained: returnsRetained)
    return code
  }

  /// Calls through libffi whatever engine the plan prefers: the oracle of the tests.
  @unsafe
  package func invokeThroughLibffi(using function: UnsafeRawPointer) {
    forgetResult()
    unsafe fwd_call_libffi(plan.handle, head, function)
    finish(returnsRetained: false)
  }

  // MARK: Steps

  /// The frame as C sees it.
  private var head: UnsafeMutablePointer<FWDFrame> {
    unsafe frame.assumingMemoryBound(to: FWDFrame.self)
  }

  /// Calls an implementation whose plan was compared with this one's.
  func perform(_ implementation: Implementation) throws {
    switch implementation.body {
    case .native(let function, let returnsRetained):
      // SAFETY: who registered the function vouched for its type, which is this plan's.
      unsafe try invoke(
        using: UnsafeRawPointer(bitPattern: function), returnsRetained: returnsRetained)
    case .closure(let body):
      forgetResult()
      try unsafe body(FrameReference(frame))
      // What a Swift body gives back, it gives for good.
      resultOwnership = resultSlot.isNull ? .none : resultSlot.kind.ownership
      hasResult = resultSlot.kind.raw != .nothing
    }
    withExtendedLifetime(implementation) {}
  }

  /// Likewise, with the `errno` that C code left; 0 for a Swift closure.
  func performCapturingErrno(_ implementation: Implementation) throws -> Int32 {
    guard case .native(let function, let returnsRetained) = implementation.body else {
      try perform(implementation)
      return 0
    }
    let code = unsafe try invokeCapturingErrno(
      using: UnsafeRawPointer(bitPattern: function), returnsRetained: returnsRetained)
    withExtendedLifetime(implementation) {}
    return code
  }

  func forgetResult() {
    releaseResult()
    hasResult = false
  }

  private func finish(returnsRetained: Bool) {
    let slot = resultSlot
    hasResult = slot.kind.raw != .nothing
    guard slot.kind.isOwnable, !slot.isNull else { return }
    if slot.kind.isObject {
      // An unretained result is kept from here on: nobody else promises to.
      if !returnsRetained { OwnedObject.retain(slot.word) }
      resultOwnership = .object
    } else if argumentsRetained {
      keepResult()
    }
  }

  func answerZero() {
    forgetResult()
    unsafe fwd_slot_clear(plan.result, frame)
    hasResult = resultSlot.kind.raw != .nothing
  }
}
