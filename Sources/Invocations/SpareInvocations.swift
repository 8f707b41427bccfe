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
  static func withOne<Result>(
    _ plan: CallPlan, _ body: (Invocation) throws -> Result
  ) throws -> Result {
    var call = take(plan)
    defer {
      // `false` also means that somebody kept it.
      if isKnownUniquelyReferenced(&call) { giveBack(call) }
    }
    return try body(call)
  }

  private static func take(_ plan: CallPlan) -> Invocation {
    let key = unsafe UnsafeRawPointer(plan.handle)
    if let thread = unsafe fwd_thread(), let spare = unsafe fwd_spare_take(thread, key) {
      return unsafe Unmanaged<Invocation>.fromOpaque(spare).takeRetainedValue()
    }
    return Invocation(plan)
  }

  private static func giveBack(_ call: Invocation) {
    guard isReady, let thread = unsafe fwd_thread() else { return }
    call.forgetEverything()
    let key = unsafe UnsafeRawPointer(call.plan.handle)
    let spare = unsafe Unmanaged.passRetained(call).toOpaque()
    if let old = unsafe fwd_spare_keep(thread, key, spare) {
      unsafe Unmanaged<Invocation>.fromOpaque(old).release()
    }
  }
}

extension Invocation {
  /// Becomes as good as new. The bytes of arguments stay; who takes it next sets them all.
  func forgetEverything() {
    record.finish()
    unsafe record.state.initialize(to: FWDInvocationState())
    if !path.isEmpty { path = [] }
  }
}
