// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims
import TypeEncodings

/// The memory of one recorded call: its state, its frame, and its ownership bits.
///
/// ``Invocation`` has one on the heap; messages and functions have one on the stack. A `Call` is a
/// reference that owns nothing, so its creator must call ``finish()``.
@safe
@usableFromInline
@frozen
package struct Call {
  // SAFETY: the creator retains the plan. The memory has the size that the plan demands, with the
  // state in front of the frame, and outlives this reference. Two words only, because they are
  // passed from function to function with every message.
  @usableFromInline let facts: UnsafePointer<FWDPlanFacts>
  @usableFromInline let state: UnsafeMutablePointer<FWDInvocationState>

  /// Initializes a call in memory of the plan's `callSize`, aligned to 16. All arguments are zero.
  @unsafe
  init(_ plan: CallPlan, at memory: UnsafeMutableRawPointer) {
    unsafe facts = plan.facts
    unsafe state = memory.assumingMemoryBound(to: FWDInvocationState.self)
    unsafe fwd_call_begin(facts, state)
  }

  /// Initializes a call without clearing the arguments. The caller sets all of them.
  @inlinable @unsafe
  @inline(__always)
  init(setting facts: UnsafePointer<FWDPlanFacts>, at memory: UnsafeMutableRawPointer) {
    unsafe self.facts = facts
    unsafe state = memory.assumingMemoryBound(to: FWDInvocationState.self)
    unsafe fwd_call_begin_set(facts, state)
  }

  /// Copies the frame of another call of the same plan. The copied references are borrowed.
  @unsafe
  func copyFrame(from other: UnsafeRawPointer) {
    unsafe frame.copyMemory(from: other, byteCount: Int(facts.pointee.frame_size))
    unsafe fwd_frame_bind_result(facts, head)
  }

  /// Copies the result in another frame of the same plan.
  @unsafe
  func copyResult(from other: UnsafeRawPointer) {
    let offset = unsafe Int(fwd_facts_result(facts).pointee.offset)
    let size = max(8, resultSlot.size)
    unsafe (frame + offset).copyMemory(from: other + offset, byteCount: size)
  }

  /// Releases everything that the call owns. The creator frees the memory.
  @inlinable
  func finish() {
    if unsafe fwd_call_owns_something(facts, state) != 0 { releaseEverything() }
  }

  @usableFromInline
  func releaseEverything() {
    releaseResult()
    releaseArguments()
  }

  /// The plan. It is retained, so steps that every call takes use `unmanagedPlan`.
  package var plan: CallPlan { unsafe unmanagedPlan.takeUnretainedValue() }

  @unsafe
  var unmanagedPlan: Unmanaged<CallPlan> {
    unsafe .fromOpaque(facts.pointee.swift_plan.unsafelyUnwrapped)
  }

  /// The bytes of all arguments and the result.
  @inlinable
  var frame: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(state + 1) }

  /// The frame as a C type.
  @inlinable
  var head: UnsafeMutablePointer<FWDFrame> {
    unsafe fwd_state_frame(state)
  }

  // MARK: Places

  @inlinable
  var argumentCount: Int { unsafe Int(facts.pointee.argument_count) }

  /// The place of argument `index`, which the caller has checked.
  @inlinable
  func slot(_ index: Int) -> ValueSlot {
    unsafe ValueSlot(slot: facts.pointee.slots + index, frame: frame, index: index)
  }

  /// The place of the result.
  @inlinable
  var resultSlot: ValueSlot {
    unsafe ValueSlot(slot: fwd_facts_result(facts), frame: frame, index: nil)
  }

  /// The place of an argument, if there is one.
  @inlinable
  func checkedSlot(_ index: Int) throws(InvocationError) -> ValueSlot {
    guard index >= 0, index < argumentCount else {
      throw .indexOutOfBounds(index: index, count: argumentCount)
    }
    return slot(index)
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

  /// What the call owns of its result. Set it after the result is stored.
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

  /// The number of the message, which copies that carry the message on share.
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

  /// Whether the receiver was lent by a delivery, or is used by a call. Replacing or retaining it
  /// would release a reference that the call does not own.
  var isTargetLent: Bool {
    get { unsafe state.pointee.is_target_lent != 0 }
    nonmutating set { unsafe state.pointee.is_target_lent = newValue ? 1 : 0 }
  }

  /// Runs a call whose receiver cannot be replaced meanwhile.
  @inline(__always)
  func lendingTarget<Result>(_ body: () throws -> Result) rethrows -> Result {
    let before = isTargetLent
    isTargetLent = true
    defer { isTargetLent = before }
    return try body()
  }

  /// Runs a call that uses the target, the objects and the texts, which cannot be replaced
  /// meanwhile. Calls of C functions count themselves.
  @inline(__always)
  func inUse<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe state.pointee.uses &+= 1
    defer { unsafe state.pointee.uses &-= 1 }
    return try body()
  }

  /// Throws if a running call uses the argument, which is an object or a C string.
  package func checkSettable(_ index: Int) throws(InvocationError) {
    if unsafe state.pointee.uses != 0 || index == 0 && isTargetLent {
      throw .argumentInUse(index: index)
    }
  }
}

extension CallPlan {
  /// Lends a call on the stack to `body`, with all arguments zero. A large one is on the heap.
  func withCall<Result>(_ body: (Call) throws -> Result) rethrows -> Result {
    // Aligned to 16 for every value that a frame may hold.
    try unsafe withUnsafeTemporaryAllocation(byteCount: callSize, alignment: 16) { memory in
      // SAFETY: this is the memory that the plan demands.
      let call = unsafe Call(self, at: memory.baseAddress.unsafelyUnwrapped)
      defer { call.finish() }
      return try body(call)
    }
  }
}
