import CForwardingShims

// Text between Swift and Swift is a String. A plan that has one differs from that of a C string; where the
// two meet, text is translated on the way. Frames of both are alike but for the words of text.

extension Call {
  /// Refuses to pass Swift's own text as the bytes of a C string.
  func refuseSwiftText(_ slot: ValueSlot) throws(InvocationError) {
    guard slot.kind.isSwiftValue, swiftType(slot, slot.index.map { $0 + 1 } ?? 0) == String.self
    else { return }
    guard let index = slot.index else { throw resultMismatch(given: [UInt8].self) }
    throw mismatch(index, given: [UInt8].self)
  }

  /// Calls C code at an address with the text of the call as C strings.
  @usableFromInline @unsafe
  func callFunctionTranslating(
    at function: UnsafeRawPointer, returnsRetained: Bool
  ) throws(InvocationError) {
    let plan = plan
    let native = try CallPlan.shared(
      for: plan.signature, fixedArgumentCount: plan.fixedArgumentCount)
    let method = try unsafe Implementation(
      native, function: function, returnsRetained: returnsRetained)
    do {
      try method.translate(self)
    } catch let error as InvocationError {
      throw error
    } catch {
      // C throws nothing else.
    }
  }
}

extension Implementation {
  /// The same method for calls of a plan that differs in whose text it is.
  convenience init(translating method: Implementation, for plan: CallPlan) {
    self.init(plan) { (call: Invocation) in try method.translate(call.call) }
  }

  /// Answers a call of a plan that differs in whose text it is.
  fileprivate func translate(_ call: Call) throws {
    let own = Invocation(plan)
    unsafe own.call.copyFrame(from: call.frame)
    // The receiver is the caller's.
    defer { if own.call.argumentCount > 0, !own.call.owns(0) { own.call.slot(0).word = 0 } }
    for index in 0..<call.argumentCount {
      let (from, to) = (call.slot(index), own.call.slot(index))
      if from.kind != to.kind { try own.call.translate(from, to, index) }
    }
    try own.call.checkReceiver(of: self)
    try own.call.lendingTarget { try own.call.perform(self) }
    try call.adoptTranslated(own.call)
  }
}

extension Call {
  fileprivate func translate(
    _ from: ValueSlot, _ to: ValueSlot, _ index: Int
  ) throws(InvocationError) {
    // What was copied is the other's.
    to.word = 0
    // SAFETY: both are places of text.
    let text = try unsafe String?.load(from: from)
    try unsafe text.store(in: to)
    setOwns(index, !to.isNull)
  }

  fileprivate func adoptTranslated(_ other: Call) throws(InvocationError) {
    forgetResult()
    guard returnsValue, other.hasResult else { return }
    guard resultSlot.kind != other.resultSlot.kind else { return adoptResult(of: other) }
    // SAFETY: both are places of text.
    let text = try unsafe String?.load(from: other.resultSlot)
    try unsafe text.store(in: resultSlot)
    resultOwnership = resultSlot.isNull ? .none : resultSlot.kind.ownership
    hasResult = true
  }
}
