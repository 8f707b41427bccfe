public import CForwardingShims
import TypeEncodings

/// The memory of one recorded call: its state, its frame, and the notes of who owns what.
///
/// ``Invocation`` keeps one on the heap, ``ScopedInvocation`` one on the stack; all that the two
/// have in common is written here, once. It owns nothing itself: its maker ends it with
/// ``finish()``.
@safe
@usableFromInline
@frozen
package struct Call {
  // SAFETY: its maker keeps the plan; the memory has the size that the plan says, the state in
  // front of the frame, and lives as long as this is used. Two words and no more, because they are
  // passed from function to function on the way of every message.
  @usableFromInline let facts: UnsafePointer<FWDPlanFacts>
  @usableFromInline let state: UnsafeMutablePointer<FWDInvocationState>

  /// Takes memory of the plan's `callSize`, aligned to 16, for a call with nothing set.
  @inlinable @unsafe
  init(_ plan: CallPlan, at memory: UnsafeMutableRawPointer) {
    unsafe self.init(plan.facts, at: memory)
  }

  /// The same for the facts of a plan.
  @inlinable @unsafe
  @inline(__always)
  init(_ facts: UnsafePointer<FWDPlanFacts>, at memory: UnsafeMutableRawPointer) {
    unsafe self.facts = facts
    unsafe state = memory.assumingMemoryBound(to: FWDInvocationState.self)
    unsafe fwd_call_begin(facts, state)
  }

  /// The same for a call whose arguments are all set before it is made.
  @inlinable @unsafe
  @inline(__always)
  init(setting facts: UnsafePointer<FWDPlanFacts>, at memory: UnsafeMutableRawPointer) {
    unsafe self.facts = facts
    unsafe state = memory.assumingMemoryBound(to: FWDInvocationState.self)
    unsafe fwd_call_begin_set(facts, state)
  }

  /// Takes over the bytes of another frame of the same plan; what they refer to stays borrowed.
  @unsafe
  func copyFrame(from other: UnsafeRawPointer) {
    unsafe frame.copyMemory(from: other, byteCount: Int(facts.pointee.frame_size))
    unsafe fwd_frame_bind_result(facts, head)
  }

  /// Takes over the bytes of a result in a frame of the same plan.
  @unsafe
  func copyResult(from other: UnsafeRawPointer) {
    let offset = unsafe Int(fwd_facts_result(facts).pointee.offset)
    let size = max(8, resultSlot.size)
    unsafe (frame + offset).copyMemory(from: other + offset, byteCount: size)
  }

  /// Lets go of everything that is owned; its maker frees the memory.
  @inlinable
  func finish() {
    if unsafe fwd_call_owns_something(facts, state) != 0 { releaseEverything() }
  }

  @usableFromInline
  func releaseEverything() {
    releaseResult()
    releaseArguments()
  }

  /// The plan, for steps that are not part of every call.
  var plan: CallPlan { unsafe unmanagedPlan.takeUnretainedValue() }

  @unsafe
  var unmanagedPlan: Unmanaged<CallPlan> {
    unsafe .fromOpaque(facts.pointee.swift_plan.unsafelyUnwrapped)
  }

  /// The bytes of all arguments and the result.
  @inlinable
  var frame: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(state + 1) }

  /// The frame as C sees it.
  @inlinable
  var head: UnsafeMutablePointer<FWDFrame> {
    unsafe fwd_state_frame(state)
  }

  // MARK: Places

  @inlinable
  var argumentCount: Int { unsafe Int(facts.pointee.argument_count) }

  /// The place of argument `index`, which was checked.
  @inlinable
  func slot(_ index: Int) -> ValueSlot {
    unsafe ValueSlot(slot: facts.pointee.slots + index, frame: frame, index: index)
  }

  /// The place of the result.
  @inlinable
  var resultSlot: ValueSlot {
    unsafe ValueSlot(slot: fwd_facts_result(facts), frame: frame, index: nil)
  }

  @inlinable
  func checkIndex(_ index: Int) throws(InvocationError) {
    guard index >= 0, index < argumentCount else {
      throw .indexOutOfBounds(index: index, count: argumentCount)
    }
  }

  // MARK: State

  @inlinable
  var owned: UInt64 {
    get { unsafe state.pointee.owned }
    nonmutating set { unsafe state.pointee.owned = newValue }
  }

  /// Whether a call has completed, or a result was set, since the last failure.
  @inlinable
  var hasResult: Bool {
    get { unsafe state.pointee.has_result != 0 }
    nonmutating set { unsafe state.pointee.has_result = newValue ? 1 : 0 }
  }

  /// What is owned of the result, which is there already.
  @inlinable
  var resultOwnership: ValueOwnership {
    get { ValueOwnership(rawValue: unsafe state.pointee.result_ownership) ?? .none }
    nonmutating set {
      unsafe state.pointee.result_ownership = newValue.rawValue
      if newValue != .none { unsafe state.pointee.owned_result = resultSlot.word }
    }
  }

  @inlinable
  package var returnsValue: Bool { unsafe facts.pointee.returns_value != 0 }

  /// The number of the message, which copies that carry it on share.
  var message: UInt64 {
    if unsafe state.pointee.message == 0 { unsafe state.pointee.message = fwd_next_message() }
    return unsafe state.pointee.message
  }

  var retainsArguments: Bool {
    get { unsafe state.pointee.retains_arguments != 0 }
    nonmutating set { unsafe state.pointee.retains_arguments = newValue ? 1 : 0 }
  }

  var retainsTarget: Bool {
    get { unsafe state.pointee.retains_target != 0 }
    nonmutating set { unsafe state.pointee.retains_target = newValue ? 1 : 0 }
  }

  /// Whether the receiver is one that a delivery put there, or that a call relies on. To set another,
  /// or to keep it, would let go of what the call does not own.
  var isTargetLent: Bool {
    get { unsafe state.pointee.is_target_lent != 0 }
    nonmutating set { unsafe state.pointee.is_target_lent = newValue ? 1 : 0 }
  }

  /// Runs a call whose receiver nobody may change meanwhile.
  @inline(__always)
  func lendingTarget<Result>(_ body: () throws -> Result) rethrows -> Result {
    let before = isTargetLent
    isTargetLent = true
    defer { isTargetLent = before }
    return try body()
  }

  /// Runs a call that uses the target, the objects and the texts of the call, which nobody may replace
  /// meanwhile. Calls of C note that themselves.
  @inline(__always)
  func inUse<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe state.pointee.uses &+= 1
    defer { unsafe state.pointee.uses &-= 1 }
    return try body()
  }

  /// Whether a call is under way, or a target is lent.
  var isBusy: Bool { unsafe state.pointee.uses != 0 || state.pointee.is_target_lent != 0 }

  /// Refuses to replace an object or a C string that a call is using.
  func checkSettable(_ index: Int) throws(InvocationError) {
    if index == 0, isBusy { throw plan.isMethod ? .targetInUse : .argumentInUse(index: 0) }
    if unsafe state.pointee.uses != 0 { throw .argumentInUse(index: index) }
  }
}
