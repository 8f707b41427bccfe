// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

// Calls with the recorded values, whose types were compared before.
extension Call {
  /// Calls a function at an address, with Swift text as C strings.
  @inlinable @unsafe
  func invoke(
    using function: UnsafeRawPointer?, returnsRetained: Bool
  ) throws(InvocationError) {
    guard let function = unsafe function else { throw .nullFunction }
    guard unsafe facts.pointee.has_swift_text == 0 else {
      return try unsafe callFunctionTranslating(at: function, returnsRetained: returnsRetained)
    }
    try unsafe callFunction(at: function, returnsRetained: returnsRetained)
  }

  /// Calls an implementation, if its types are those of the call.
  func invoke(using implementation: Implementation) throws {
    let implementation = try plan.check(implementation)
    try implementation.checkReceiver(slot(0).object)
    try lendingTarget { try perform(implementation) }
  }

  /// Calls the function at an address.
  @inlinable @unsafe
  func callFunction(at function: UnsafeRawPointer, returnsRetained: Bool) throws(InvocationError) {
    guard unsafe facts.pointee.is_light != 0 else {
      return try unsafe callFunctionWithCare(at: function, returnsRetained: returnsRetained)
    }
    // A light plan has no owned result, no arguments to retain, and a small frame.
    unsafe fwd_call_in_use(facts, state, function)
    hasResult = returnsValue
  }

  /// Calls a function if the stack has room for the call, through either engine, and takes
  /// ownership of the result if it is one that can be owned.
  @usableFromInline @unsafe
  func callFunctionWithCare(at function: UnsafeRawPointer, returnsRetained: Bool)
    throws(InvocationError)
  {
    try checkStack()
    let old = detachResult()
    unsafe fwd_call_in_use(facts, state, function)
    keepReturned(returnsRetained: returnsRetained)
    letGo(old)
  }

  /// Throws if the rest of the thread's stack is too small for the call. Overflowing the stack
  /// would crash the process.
  func checkStack() throws(InvocationError) {
    guard unsafe fwd_has_stack_for(facts) == 0 else { return }
    throw .notEnoughStack(
      needed: unsafe Int(facts.pointee.stack_needed), left: Int(fwd_stack_left()))
  }

  /// Calls a Swift body.
  func callBody(of implementation: Implementation) throws {
    try replacingResult {
      clearResult()
      do {
        try inUse { try unsafe implementation.body(FrameReference(frame)) }
      } catch {
        // The body may have set a result before it threw.
        forgetResult()
        throw error
      }
      adoptAnswer(isOwned: implementation.ownsResult)
    }
  }

  /// Takes over the result that a Swift body stored. A pointer in the place of a C string stays
  /// borrowed.
  @inline(__always)
  func adoptAnswer(isOwned: Bool) {
    // Code that ran during the call may have set a result, which was written over.
    if resultOwnership == .none { return adoptNewAnswer(isOwned: isOwned) }
    let replaced = detachReplaced()
    adoptNewAnswer(isOwned: isOwned)
    letGo(replaced)
  }

  private func adoptNewAnswer(isOwned: Bool) {
    hasResult = returnsValue
    let slot = resultSlot
    guard slot.kind.isOwnable, !slot.isNull else { return }
    if isOwned { resultOwnership = slot.kind.ownership } else if retainsArguments { keepResult() }
  }

  /// Calls an implementation whose plan was compared with this one's.
  func perform(_ implementation: Implementation) throws {
    if unsafe implementation.plan.facts != facts, plan.differsInText(from: implementation.plan) {
      return try performTranslating(implementation)
    }
    try withExtendedLifetime(implementation) {
      if let function = implementation.function {
        // SAFETY: the registration of the function vouched for its type, which is this plan's.
        try unsafe callFunction(at: function.address, returnsRetained: function.returnsRetained)
      } else {
        try callBody(of: implementation)
      }
    }
  }

  /// Performs an implementation.
  ///
  /// - Throws: ``InvocationError`` if its types differ from those of the call, or the error of the
  ///   implementation.
  package func answer(by method: Implementation) throws {
    if unsafe method.plan.facts == facts { return try perform(method) }
    guard let selector else { throw InvocationError.selectorNotSet }
    try perform(check(method, selector))
  }

  /// Performs a method of an object, which the caller retains. The old target is restored on
  /// return.
  package func perform(_ method: Implementation, on object: AnyObject) throws {
    let slot = slot(0)
    let word = slot.word
    slot.object = object
    defer { slot.word = word }
    try lendingTarget { try perform(method) }
  }

  /// Calls a method that was looked up, and is held. Not inlined, because light methods are called
  /// without it.
  @unsafe
  @inline(never)
  func perform(_ method: UnsafePointer<FWDMethod>) throws {
    if let function = unsafe method.pointee.function {
      try unsafe callFunction(at: function, returnsRetained: method.pointee.returns_retained != 0)
    } else if let implementation = unsafe method.pointee.implementation {
      try unsafe Unmanaged<Implementation>.fromOpaque(implementation)._withUnsafeGuaranteedRef {
        try callBody(of: $0)
      }
    }
  }

  @inlinable
  @inline(__always)
  package func forgetResult() {
    hasResult = false
    if resultOwnership != .none { releaseResult() }
  }

  func keepReturned(returnsRetained: Bool) {
    let slot = resultSlot
    let replaced = detachReplaced()
    defer { letGo(replaced) }
    hasResult = returnsValue
    guard slot.kind.isOwnable, !slot.isNull else { return }
    if slot.kind.isObject {
      // An unretained object is retained here, because it may die at any time.
      if !returnsRetained { return keepResult() }
      resultOwnership = .object
    } else if retainsArguments {
      keepResult()
    }
  }

  @usableFromInline
  package func answerWithZero() {
    let old = detachResult()
    unsafe fwd_slot_clear(fwd_facts_result(facts), frame)
    hasResult = returnsValue
    letGo(old)
  }
}
