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
    unsafe SoleReference.ofRuntime.leads(
      to: fwd_object_references(Unmanaged.passUnretained(invocation).toOpaque()))
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
    guard unsafe SoleReference.ofRuntime.leads(to: fwd_object_references(call.toOpaque())),
      let thread = unsafe fwd_thread()
    else {
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
    if hasLuggage { setAttachments(nil) }
    let owner = unsafe call.state.pointee.owner
    unsafe call.state.initialize(to: FWDInvocationState())
    unsafe call.state.pointee.owner = owner
  }
}
