// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

// Lends a call as an invocation, for code that inspects or retains it.
extension Call {
  /// The invocation that the call belongs to; nil for a call on the stack.
  @inline(__always)
  private var owner: Unmanaged<Invocation>? {
    unsafe UnsafeRawPointer(bitPattern: state.pointee.owner).map { unsafe .fromOpaque($0) }
  }

  /// Runs `body` with the invocation that the call belongs to, or else with a spare one that
  /// borrows the arguments. A result that `body` leaves becomes the result of this call.
  package func withInvocation<Result>(_ body: (Invocation) throws -> Result) rethrows -> Result {
    if let owner = unsafe owner { return try unsafe owner._withUnsafeGuaranteedRef(body) }
    return try unsafe unmanagedPlan._withUnsafeGuaranteedRef { plan in
      try SpareInvocations.withOne(plan) { spare in
        spare.call.borrow(from: self)
        defer {
          adoptUnanswered(of: spare.call)
          // Without a new result, the result of an earlier target stays.
          if spare.call.hasResult {
            forgetResult()
            adoptResult(of: spare.call)
          }
          spare.call.slot(0).word = 0
        }
        return try body(spare)
      }
    }
  }

  /// Whether an object forwarded the call before the call crossed to this thread.
  @inline(__always)
  func hasPassed(_ object: UnsafeRawPointer) -> Bool {
    unsafe state.pointee.has_attachments != 0 && isInPath(object)
  }

  @unsafe
  private func isInPath(_ object: UnsafeRawPointer) -> Bool {
    guard let owner = unsafe owner else { return false }
    return unsafe owner._withUnsafeGuaranteedRef { invocation in
      invocation.path.contains {
        unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) == object
      }
    }
  }

  /// Copies the arguments and the selector of another call of the same plan. Arguments that the
  /// other call owns are copied or retained.
  func borrow(from other: Call) {
    unsafe copyFrame(from: other.frame)
    carry(messageOf: other)
    setSelector(Selector(word: UInt(other.slot(1).word)))
    if other.owned != 0 || other.hasOwnedBeyond {
      for index in 0..<argumentCount where other.owns(index) { retain(index) }
    }
  }

  /// Moves the result of another call of the same plan here, with its ownership.
  func adoptResult(of other: Call) {
    guard other.hasResult else { return }
    unsafe copyResult(from: other.frame)
    resultOwnership = other.resultOwnership
    other.resultOwnership = .none
    hasResult = true
  }

  /// An invocation that has the result of this call, and no arguments.
  package func copiedAnswer() -> Invocation {
    let copy = Invocation(plan)
    // SAFETY: equal plans place their results alike, and both frames are whole.
    unsafe copy.call.copyResult(from: frame)
    copy.call.hasResult = hasResult
    copy.call.keepResult()
    return copy
  }
}
