// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims
import TypeEncodings

extension Invocation {
  // MARK: Target and selector

  /// The receiver, which is argument 0 of a method.
  public var target: AnyObject? {
    guard plan.isMethod else { return nil }
    return call.slot(0).object
  }

  /// Sets the receiver and retains it until it is replaced.
  ///
  /// - Throws: ``InvocationError/notAMethod(_:)``, or ``InvocationError/argumentInUse(index:)`` during a
  ///   call.
  public func setTarget(_ target: AnyObject?) throws(InvocationError) {
    try plan.checkMethod()
    try setArgument(target, at: 0)
  }

  /// The selector, which is argument 1 of a method.
  public var selector: Selector? { plan.isMethod ? call.selector : nil }

  /// Sets the selector. It must take as many arguments as the signature declares.
  ///
  /// - Throws: ``InvocationError/notAMethod(_:)``, or ``InvocationError/encoding(_:)`` if the
  ///   number of arguments differs.
  public func setSelector(_ selector: Selector) throws(InvocationError) {
    try plan.check(selector)
    call.setSelector(selector)
  }

  // MARK: Calling

  /// Calls a registered function or method with the recorded arguments, whatever its name.
  ///
  /// - Throws: ``InvocationError/signatureMismatch(name:expected:given:)`` or
  ///   ``InvocationError/swiftTypeMismatch(name:index:expected:given:)`` if the types differ;
  ///   ``InvocationError/wrongClass(expected:given:)`` if C code does not take the receiver; or the
  ///   error of the implementation.
  public func invoke(using implementation: Implementation) throws {
    let implementation = try plan.check(implementation)
    try implementation.checkReceiver(call.slot(0).object)
    try call.lendingTarget { try call.perform(implementation) }
  }

  /// Calls the function at an address with the recorded arguments, including the receiver and the
  /// selector.
  ///
  /// - Parameters:
  ///   - function: the address of the function.
  ///   - returnsRetained: whether the caller must release an object that the function returns.
  /// - Throws: ``InvocationError/nullFunction``; ``InvocationError/notEnoughStack(needed:left:)``;
  ///   or ``InvocationError/embeddedNUL(offset:)`` if Swift text cannot be passed as a C string.
  /// - Safety: the signature must describe the function's C type.
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

  /// Calls the function at an address and returns the `errno` that it left; 0 if it left none.
  ///
  /// - Throws: The errors of ``invoke(using:returnsRetained:)``.
  /// - Safety: the signature must describe the function's C type.
  @unsafe
  package func invokeCapturingErrno(
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
    call.keepReturned(isOwned: returnsRetained && call.resultSlot.kind.isObject)
    return code
  }

  /// Calls through libffi, with which tests compare the direct engine. Returns false, without a call,
  /// if libffi would pass a value wrong.
  @unsafe
  package func invokeThroughLibffi(using function: UnsafeRawPointer) -> Bool {
    guard unsafe fwd_libffi_refuses(plan.facts) < 0 else { return false }
    call.forgetResult()
    unsafe fwd_call_libffi(plan.facts, call.head, function)
    call.keepReturned(isOwned: false)
    return true
  }

  /// Calls an implementation whose plan was compared with this one's, and returns the `errno` that
  /// C code left; 0 for a Swift closure.
  func performCapturingErrno(_ implementation: Implementation) throws -> Int32 {
    guard let function = implementation.function else {
      try call.perform(implementation)
      return 0
    }
    try implementation.checkReceiver(call.slot(0).object)
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

  /// Throws if a selector takes another number of arguments than the plan.
  func check(_ selector: Selector) throws(InvocationError) {
    try checkMethod()
    if argumentCount == selector.numberOfArguments + 2 { return }
    try signature.checkArity(of: selector)
  }

  /// Returns the implementation that answers calls of this plan: the given one, whose text
  /// ``Call/perform(_:)`` translates, or its variant without a result.
  ///
  /// - Throws: ``InvocationError`` if the types differ.
  func check(_ implementation: Implementation) throws(InvocationError) -> Implementation {
    if let answering = implementation.answering(self) { return answering }
    throw mismatch("function", implementation.plan.signature, of: implementation.plan)
  }
}

extension Call {
  /// The selector of a method. The word may be any bytes, so it is looked up once.
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
    guard let selector = Selector(ofWord: word) else { return nil }
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
