// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

// Text between Swift callers and Swift methods is a `String`. A plan with Swift text differs from
// one with C strings; a call between the two translates the text. Their frames differ only in the
// words of text.

extension Call {
  /// Calls C code at an address, with the text of the call as C strings.
  @usableFromInline @unsafe
  func callFunctionTranslating(
    at function: UnsafeRawPointer, returnsRetained: Bool
  ) throws(InvocationError) {
    try withNativeText { (native) throws(InvocationError) in
      try unsafe native.call.callFunction(at: function, returnsRetained: returnsRetained)
    }
  }

  /// Whether a method with this identity has the types of this call, with C strings for its text.
  @unsafe
  func isNative(_ identity: UnsafeRawPointer?) -> Bool {
    guard unsafe facts.pointee.has_swift_text != 0, let identity = unsafe identity else {
      return false
    }
    return unsafe unmanagedPlan._withUnsafeGuaranteedRef { plan in
      unsafe (try? plan.native)?.facts.pointee.identity == identity
    }
  }

  /// Calls an implementation whose plan differs in the kind of its text.
  func performTranslating(_ method: Implementation) throws {
    try replacingResult {
      try withTranslation(for: method.plan, failing: { $0 as any Error }) {
        (other) throws(any Error) in
        try method.checkReceiver(other.call.slot(0).object)
        try other.call.lendingTarget { try other.call.perform(method) }
      }
    }
  }

  /// Runs `body` with a copy of the call whose texts are C strings, and takes over its result.
  func withNativeText<Answer>(
    _ body: (Invocation) throws(InvocationError) -> Answer
  ) throws(InvocationError) -> Answer {
    try withTranslation(for: plan.native, failing: { $0 }, body)
  }

  /// Runs `body` with a copy of the call for a plan that differs in the kind of its text, and takes
  /// over its result. `failing` converts the error for text that cannot be translated.
  fileprivate func withTranslation<Answer, Failure: Error>(
    for plan: CallPlan, failing: (InvocationError) -> Failure,
    _ body: (Invocation) throws(Failure) -> Answer
  ) throws(Failure) -> Answer {
    let result = SpareInvocations.withOne(plan) { other in
      Swift.Result { () throws(Failure) in
        unsafe other.call.copyFrame(from: frame)
        // The caller retains the receiver; the copy does not own it.
        defer {
          if other.plan.argumentCount > 0, !other.call.owns(0) { other.call.slot(0).word = 0 }
        }
        do throws(InvocationError) {
          for index in 0..<argumentCount {
            let (from, to) = (slot(index), other.call.slot(index))
            if from.kind != to.kind { try other.call.translate(from, to, index) }
          }
        } catch {
          throw failing(error)
        }
        // The other call borrows the objects of this one.
        let answer = try inUse { () throws(Failure) in try body(other) }
        do throws(InvocationError) { try adoptTranslated(other.call) } catch {
          throw failing(error)
        }
        return answer
      }
    }
    return try result.get()
  }
}

extension Call {
  fileprivate func translate(
    _ from: ValueSlot, _ to: ValueSlot, _ index: Int
  ) throws(InvocationError) {
    // Clears the copied word, which belongs to the other call.
    to.word = 0
    // SAFETY: both places hold text.
    let text = try unsafe String?.load(from: from)
    try unsafe text.store(in: to)
    setOwns(index, !to.isNull)
  }

  fileprivate func adoptTranslated(_ other: Call) throws(InvocationError) {
    // The old result is released last, as its `deinit` may set another one.
    let old = detachResult()
    defer { letGo(old) }
    guard returnsValue, other.hasResult else { return }
    guard resultSlot.kind != other.resultSlot.kind else { return adoptResult(of: other) }
    // SAFETY: both places hold text.
    let text = try unsafe String?.load(from: other.resultSlot)
    try unsafe text.store(in: resultSlot)
    resultOwnership = resultSlot.isNull ? .none : resultSlot.kind.ownership
    hasResult = true
  }
}
