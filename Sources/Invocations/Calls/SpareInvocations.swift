import CForwardingShims

/// Invocations that each thread uses again, so that forwarding a message allocates nothing.
///
/// A borrower may keep one: then it is spare no more.
enum SpareInvocations {
  // How a thread that ends lets go of its spares.
  private static let isReady: Bool = {
    unsafe fwd_set_spare_release { spare in
      unsafe Unmanaged<Invocation>.fromOpaque(spare).release()
    }
    return true
  }()

  /// Lends an invocation of `plan` with nothing set; its arguments hold the bytes of its last use.
  ///
  /// `body` may borrow what it puts there: if somebody keeps the invocation, that is retained, and C
  /// strings are copied, before this returns.
  @inline(__always)
  static func withOne<Result>(
    _ plan: CallPlan, _ body: (Invocation) throws -> Result
  ) rethrows -> Result {
    let key = unsafe UnsafeRawPointer(plan.handle)
    let thread = unsafe fwd_thread()
    let spare = unsafe thread.flatMap { unsafe fwd_spare_take($0, key) }
    // SAFETY: one retain is ours, from here until the spare is kept or released.
    let call = unsafe spare.map { unsafe Unmanaged<Invocation>.fromOpaque($0) } ?? make(plan)
    defer { unsafe giveBack(call, key) }
    return try unsafe call._withUnsafeGuaranteedRef(body)
  }

  /// Answers a call whose frame is somebody else's: `body` gets an invocation of the same bytes,
  /// and the result that it leaves, or zero, goes into the frame.
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
    // A thread only keeps what was made here.
    _ = isReady
    return unsafe Unmanaged.passRetained(Invocation(plan))
  }

  @unsafe
  private static func giveBack(_ call: Unmanaged<Invocation>, _ key: UnsafeRawPointer) {
    // Any other reference, strong or weak, may lead to it later: then it is no spare.
    guard unsafe SoleReference.ofRuntime.leads(to: fwd_object_references(call.toOpaque())),
      let thread = unsafe fwd_thread()
    else {
      // What it has borrowed ends with the loan.
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
  /// Whether one reference leads here, and no weak one.
  package var isKnownToNobodyElse: Bool {
    unsafe SoleReference.ofRuntime.leads(
      to: fwd_object_references(Unmanaged.passUnretained(self).toOpaque()))
  }

  /// Resets everything but the bytes of the arguments: the next user sets them all.
  fileprivate func forgetEverything() {
    call.finish()
    forgetMethod()
    if hasLuggage { setLuggage(nil) }
    let owner = unsafe call.state.pointee.owner
    unsafe call.state.initialize(to: FWDInvocationState())
    unsafe call.state.pointee.owner = owner
  }
}
