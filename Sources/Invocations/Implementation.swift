import CForwardingShims

/// A frame that is being called with; valid during the call.
@safe
struct FrameReference {
  let base: UnsafeMutableRawPointer

  // SAFETY: made only where a call begins, from the frame of the plan that is called.
  @unsafe
  init(_ base: UnsafeMutableRawPointer) { unsafe self.base = base }

  func argument(_ index: Int, of plan: CallPlan) -> ValueSlot {
    unsafe ValueSlot(slot: plan.slots + index, frame: base, index: index)
  }

  func result(of plan: CallPlan) -> ValueSlot {
    unsafe ValueSlot(slot: plan.result, frame: base, index: nil)
  }
}

/// What answers a message or a named function: C code at an address, or a Swift closure.
public struct Implementation: Sendable {
  /// Answers a call whose frame is at an address, and leaves the result there.
  typealias Closure = @Sendable (FrameReference) throws -> Void

  enum Body: Sendable {
    /// The address of C code, and whether its object result is the caller's to release.
    case native(UInt, returnsRetained: Bool)
    case closure(Closure)
  }

  /// The prepared call; dispatch compares it by identity.
  public let plan: CallPlan
  let body: Body
  /// Kept as long as the implementation is: the library that holds the code.
  let keepAlive: (any Sendable)?

  init(_ plan: CallPlan, _ body: Body, keepAlive: (any Sendable)? = nil) {
    self.plan = plan
    self.body = body
    self.keepAlive = keepAlive
  }

  /// Vouches for the C function at an address.
  ///
  /// - Safety: its C type must be the one that the plan's signature describes.
  @unsafe
  init(
    _ plan: CallPlan, function: UnsafeRawPointer?, returnsRetained: Bool,
    keepAlive: (any Sendable)? = nil
  ) throws(InvocationError) {
    guard let function = unsafe function else { throw .nullFunction }
    self.init(
      plan, .native(UInt(bitPattern: function), returnsRetained: returnsRetained),
      keepAlive: keepAlive)
  }
}
