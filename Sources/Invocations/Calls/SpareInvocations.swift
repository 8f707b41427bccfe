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

  /// Answers a call whose frame is somebody else's: `body` gets an invocation of the same bytes, and
  /// what it leaves as the result, or zero, is given back.
  static func answer(
    _ frame: FrameReference, of plan: CallPlan, with body: (Invocation) throws -> Void
  ) throws {
    try withOne(plan) { call in
      unsafe call.record.copyFrame(from: frame.base)
      try body(call)
      unsafe call.giveResult(to: frame.base)
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
    // Whoever else refers to it, strongly or weakly, may look at it later: then it is no spare.
    guard unsafe fwd_object_references(call.toOpaque()) == SoleReference.bits,
      let thread = unsafe fwd_thread()
    else {
      // What it has borrowed ends with the loan.
      unsafe call._withUnsafeGuaranteedRef { $0.record.keepEverything() }
      return unsafe call.release()
    }
    unsafe call._withUnsafeGuaranteedRef { $0.forgetEverything() }
    if let old = unsafe fwd_spare_keep(thread, key, call.toOpaque()) {
      unsafe Unmanaged<Invocation>.fromOpaque(old).release()
    }
  }
}

/// What the reference counts of an object look like that one reference leads to, and no weak one.
private enum SoleReference {
  private final class Probe {}

  // Seen in an object instead of known, as the runtime may count otherwise in another version.
  static let bits: UInt64 = {
    let probe = unsafe make()
    defer { unsafe probe.release() }
    return unsafe fwd_object_references(probe.toOpaque())
  }()

  @inline(never)
  private static func make() -> Unmanaged<Probe> { unsafe Unmanaged.passRetained(Probe()) }
}

extension Invocation {
  /// Whether one reference leads here, and no weak one.
  package var isKnownToNobodyElse: Bool {
    unsafe fwd_object_references(Unmanaged.passUnretained(self).toOpaque()) == SoleReference.bits
  }

  /// Becomes as good as new. The bytes of arguments stay; who takes it next sets them all.
  fileprivate func forgetEverything() {
    record.finish()
    if hasPath { setPath([]) }
    unsafe record.state.initialize(to: FWDInvocationState())
  }
}
