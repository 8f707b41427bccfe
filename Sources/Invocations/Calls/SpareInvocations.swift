// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// A cache of invocations that each thread reuses, so that forwarding a message allocates nothing.
///
/// A borrower may retain a lent invocation, which then does not return to the cache.
package enum SpareInvocations {
  // The function that releases the spares of a thread that ends.
  private static let isReady: Bool = {
    unsafe fwd_set_spare_release { spare in
      unsafe Unmanaged<Invocation>.fromOpaque(spare).release()
    }
    return true
  }()

  /// Whether an invocation can be used again: exactly one strong reference to it exists, and no weak
  /// one.
  package static func isReusable(_ invocation: Invocation) -> Bool {
    unsafe fwd_object_is_sole(Unmanaged.passUnretained(invocation).toOpaque()) != 0
  }

  /// Lends an invocation of `plan` with nothing set. Its arguments hold the bytes of its last use.
  ///
  /// `body` may store borrowed references. If the invocation is retained elsewhere, objects are
  /// retained, and C strings copied, before this returns.
  @inline(__always)
  package static func withOne<Result>(
    _ plan: CallPlan, _ body: (Invocation) throws -> Result
  ) rethrows -> Result {
    let key = unsafe UnsafeRawPointer(plan.handle)
    let thread = unsafe fwd_thread()
    let spare = unsafe thread.flatMap { unsafe fwd_spare_take($0, key) }
    // SAFETY: one reference is owned here, until the spare is cached or released.
    let call = unsafe spare.map { unsafe Unmanaged<Invocation>.fromOpaque($0) } ?? make(plan)
    defer { unsafe giveBack(call, key) }
    return try unsafe call._withUnsafeGuaranteedRef(body)
  }

  /// Answers a call whose frame belongs to other code. `body` gets an invocation of the same bytes,
  /// and its result, or zero, is stored in the frame.
  static func answer(
    _ frame: FrameReference, of plan: CallPlan, with body: (Invocation) throws -> Void
  ) throws {
    try withOne(plan) { spare in
      unsafe spare.call.copyFrame(from: frame.base)
      try body(spare)
      unsafe spare.giveResult(to: frame.base)
    }
  }

  @inline(never)
  private static func make(_ plan: CallPlan) -> Unmanaged<Invocation> {
    // A thread caches only invocations that were made here.
    _ = isReady
    return unsafe Unmanaged.passRetained(Invocation(plan))
  }

  @unsafe
  private static func giveBack(_ call: Unmanaged<Invocation>, _ key: UnsafeRawPointer) {
    // Any other reference, strong or weak, can lead to the invocation later, so it cannot be
    // reused.
    guard unsafe fwd_object_is_sole(call.toOpaque()) != 0, let thread = unsafe fwd_thread() else {
      // Borrowed references end with the loan.
      unsafe call._withUnsafeGuaranteedRef { $0.call.keepEverything() }
      return unsafe call.release()
    }
    unsafe call._withUnsafeGuaranteedRef { $0.forgetEverything() }
    if let old = unsafe fwd_spare_keep(thread, key, call.toOpaque()) {
      unsafe Unmanaged<Invocation>.fromOpaque(old).release()
    }
  }
}

extension Invocation {
  /// Resets everything but the bytes of the arguments. The next user sets all of them.
  fileprivate func forgetEverything() {
    call.finish()
    forgetMethod()
    if hasLuggage { setLuggage([], nil) }
    let owner = unsafe call.state.pointee.owner
    unsafe call.state.initialize(to: FWDInvocationState())
    unsafe call.state.pointee.owner = owner
  }
}

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
    if unsafe fwd_call_owns_something(facts, other.state) != 0 {
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

  /// Copies the result of another call of the same plan, which is owned here.
  func copyAnswer(of other: Call) {
    guard other.hasResult, returnsValue else { return }
    // SAFETY: equal plans place their results alike, and both frames are whole.
    unsafe copyResult(from: other.frame)
    hasResult = true
    keepResult()
  }

  /// An invocation that has the result of this call, and no arguments.
  package func copiedAnswer() -> Invocation {
    let copy = Invocation(plan)
    copy.call.copyAnswer(of: self)
    return copy
  }
}
