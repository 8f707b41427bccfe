import CForwardingShims

/// Invocations that each thread uses again, so that forwarding a message allocates nothing.
///
/// Whoever gets one may keep it: then it is simply no longer spare.
enum SpareInvocations {
  // How a thread that ends lets go of its spares.
  private static let isReady: Bool = {
    unsafe fwd_set_spare_release { spare in
      unsafe Unmanaged<Invocation>.fromOpaque(spare).release()
    }
    return true
  }()

  /// Lends an invocation of `plan`, of which nothing is set but what the last one left as bytes.
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

  @inline(never)
  private static func make(_ plan: CallPlan) -> Unmanaged<Invocation> {
    // A thread only keeps what was made here.
    _ = isReady
    return unsafe Unmanaged.passRetained(Invocation(plan))
  }

  @unsafe
  private static func giveBack(_ call: Unmanaged<Invocation>, _ key: UnsafeRawPointer) {
    // More than one reference means that somebody kept it.
    guard unsafe swift_isUniquelyReferenced_nonNull_native(call.toOpaque()),
      let thread = unsafe fwd_thread()
    else { return unsafe call.release() }
    unsafe call._withUnsafeGuaranteedRef { $0.forgetEverything() }
    if let old = unsafe fwd_spare_keep(thread, key, call.toOpaque()) {
      unsafe Unmanaged<Invocation>.fromOpaque(old).release()
    }
  }
}

extension Invocation {
  /// Becomes as good as new. The bytes of arguments stay; who takes it next sets them all.
  fileprivate func forgetEverything() {
    record.finish()
    if hasPath { setPath([]) }
    unsafe record.state.initialize(to: FWDInvocationState())
  }
}
