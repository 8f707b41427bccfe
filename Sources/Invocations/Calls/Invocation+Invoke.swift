public import CForwardingShims
import TypeEncodings

extension Invocation {
  // MARK: Target and selector

  /// The receiver, which is argument 0 of a method.
  public var target: AnyObject? {
    guard plan.isMethod else { return nil }
    return call.slot(0).object
  }

  /// Sets the receiver and retains it, until it is replaced.
  public func setTarget(_ target: AnyObject?) throws(InvocationError) {
    try plan.checkMethod()
    try setArgument(target, at: 0)
  }

  /// Sets the receiver without retaining it.
  ///
  /// - Safety: the target must outlive every call.
  @unsafe
  public func setTarget(unretained target: AnyObject?) throws(InvocationError) {
    try plan.checkMethod()
    unsafe try setArgument(unretained: target, at: 0)
  }

  /// The selector, which is argument 1 of a method.
  public var selector: Selector? { plan.isMethod ? call.selector : nil }

  /// Sets the selector. It must take as many arguments as the signature declares.
  public func setSelector(_ selector: Selector) throws(InvocationError) {
    try plan.check(selector)
    call.setSelector(selector)
  }

  // MARK: Calling

  /// Calls a registered function or method with the recorded arguments, whatever its name.
  public func invoke(using implementation: Implementation) throws {
    let implementation = try plan.check(implementation)
    try call.checkReceiver(of: implementation)
    try call.lendingTarget { try call.perform(implementation) }
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
    guard unsafe call.facts.pointee.has_swift_text == 0 else {
      return try unsafe call.callFunctionTranslating(
        at: function, returnsRetained: returnsRetained)
    }
    try unsafe call.callFunction(at: function, returnsRetained: returnsRetained)
  }

  /// Calls the function at an address and returns the `errno` it left, 0 if it left none.
  ///
  /// - Safety: the function's C type must be the one the signature describes.
  @unsafe
  public func invokeCapturingErrno(
    using function: UnsafeRawPointer?, returnsRetained: Bool = false
  ) throws(InvocationError) -> Int32 {
    guard let function = unsafe function else { throw .nullFunction }
    guard !plan.hasSwiftText else {
      return try call.withNativeText { (native) throws(InvocationError) in
        try unsafe native.invokeCapturingErrno(using: function, returnsRetained: returnsRetained)
      }
    }
    call.forgetResult()
    try call.checkStack()
    let code = unsafe fwd_call_capturing_errno(plan.facts, call.state, function)
    call.keepReturned(returnsRetained: returnsRetained)
    return code
  }

  /// Calls through libffi whatever engine the plan prefers: the oracle of the tests.
  @unsafe
  package func invokeThroughLibffi(using function: UnsafeRawPointer) {
    call.forgetResult()
    unsafe fwd_call_libffi(plan.facts, call.head, function)
    call.keepReturned(returnsRetained: false)
  }

  /// Calls an implementation whose plan was compared with this one's, and returns the `errno` that
  /// C code left; 0 for a Swift closure.
  func performCapturingErrno(_ implementation: Implementation) throws -> Int32 {
    guard let function = implementation.function else {
      try call.perform(implementation)
      return 0
    }
    try call.checkReceiver(of: implementation)
    let code = unsafe try invokeCapturingErrno(
      using: function.address, returnsRetained: function.returnsRetained)
    withExtendedLifetime(implementation) {}
    return code
  }
}

extension CallPlan {
  func checkMethod() throws(InvocationError) {
    guard isMethod else { throw .notAMethod(signature) }
  }

  /// Refuses a selector that takes another number of arguments than the plan has.
  func check(_ selector: Selector) throws(InvocationError) {
    try checkMethod()
    if argumentCount == selector.numberOfArguments + 2 { return }
    try signature.checkArity(of: selector)
  }

  /// Returns what answers calls of this plan: a function, or its twin without a result.
  func check(_ implementation: Implementation) throws(InvocationError) -> Implementation {
    if let answering = implementation.answering(self) { return answering }
    throw mismatch("function", implementation.plan.signature, of: implementation.plan)
  }
}

extension Call {
  /// The selector of a method. Bytes of a frame may be anything, so a word is looked up, once.
  @inline(__always)
  package var selector: Selector? {
    guard argumentCount > 1 else { return nil }
    let word = slot(1).word
    if unsafe word == state.pointee.checked_selector, word != 0 {
      return Selector(word: UInt(word))
    }
    return lookUpSelector(word)
  }

  private func lookUpSelector(_ word: UInt64) -> Selector? {
    guard let selector = SelectorTable.selector(ofWord: word) else { return nil }
    unsafe state.pointee.checked_selector = word
    return selector
  }

  /// Sets a selector that fits the plan.
  @inlinable
  func setSelector(_ selector: Selector) {
    selectorWord = UInt64(selector.word)
    unsafe state.pointee.checked_selector = UInt64(selector.word)
  }
}
