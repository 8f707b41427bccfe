public import CForwardingShims
import TypeEncodings

/// The memory of one recorded call: its state, its frame, and the notes of who owns what.
///
/// ``Invocation`` keeps one on the heap, ``ScopedInvocation`` one on the stack; all that the two
/// have in common is written here, once. It owns nothing itself: who makes one ends it with
/// ``finish()``.
@safe
@usableFromInline
@frozen
struct CallRecord {
  // SAFETY: the plan is kept by whoever made this; the memory has the size that the plan says, the
  // state in front of the frame, and lives as long as this is used. Two words and no more: they are
  // passed from function to function on the way of every message.
  @usableFromInline let facts: UnsafePointer<FWDPlanFacts>
  @usableFromInline let state: UnsafeMutablePointer<FWDInvocationState>

  /// Takes memory of the plan's `recordSize`, aligned to 16, for a call of which nothing is set.
  @inlinable @unsafe
  init(_ plan: CallPlan, at memory: UnsafeMutableRawPointer) {
    unsafe facts = plan.facts
    unsafe state = memory.assumingMemoryBound(to: FWDInvocationState.self)
    unsafe fwd_call_begin(facts, state)
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

  /// Gives back everything that is owned; the memory is the maker's to free.
  @inlinable
  func finish() {
    if unsafe fwd_call_owns_something(facts, state) != 0 { releaseEverything() }
  }

  @usableFromInline
  func releaseEverything() {
    releaseResult()
    releaseArguments()
  }

  /// The prepared call, for what is not done on every call.
  var plan: CallPlan { unsafe unmanagedPlan.takeUnretainedValue() }

  @unsafe
  var unmanagedPlan: Unmanaged<CallPlan> {
    unsafe .fromOpaque(facts.pointee.owner.unsafelyUnwrapped)
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

  /// What is owned of the result.
  @inlinable
  var resultOwnership: ValueOwnership {
    get { ValueOwnership(rawValue: unsafe state.pointee.result_ownership) ?? .none }
    nonmutating set { unsafe state.pointee.result_ownership = newValue.rawValue }
  }

  @inlinable
  var returnsValue: Bool { unsafe facts.pointee.returns_value != 0 }

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
  /// or to keep it, would let go of what the record does not own.
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

  /// Runs a call that uses the target, the objects and the texts of the record, which nobody may replace
  /// meanwhile. Calls of C note that themselves.
  @inline(__always)
  func inUse<Result>(_ body: () throws -> Result) rethrows -> Result {
    unsafe state.pointee.uses &+= 1
    defer { unsafe state.pointee.uses &-= 1 }
    return try body()
  }

  /// Whether a call is under way, or a target is lent.
  var isBusy: Bool { unsafe state.pointee.uses != 0 || state.pointee.is_target_lent != 0 }

  /// Refuses to replace an object or a C string that a call is using.
  func checkSettable(_ index: Int) throws(InvocationError) {
    if index == 0, isBusy { throw .targetInUse }
    if unsafe state.pointee.uses != 0 { throw .argumentInUse(index: index) }
  }

  // MARK: Ownership

  /// The words behind the frame in which the arguments from the 64th on have their bits.
  private var ownedBeyond: UnsafeMutableBufferPointer<UInt64> {
    let start = unsafe (frame + Int(facts.pointee.frame_size))
    return unsafe UnsafeMutableBufferPointer(
      start: start.assumingMemoryBound(to: UInt64.self), count: Int(facts.pointee.owned_words))
  }

  @inlinable
  var hasOwnedBeyond: Bool { unsafe facts.pointee.owned_words > 0 }

  @inlinable
  func owns(_ index: Int) -> Bool {
    index < 64 ? owned & (1 << UInt64(index)) != 0 : ownsBeyond(index)
  }

  @usableFromInline
  func ownsBeyond(_ index: Int) -> Bool {
    unsafe ownedBeyond[index / 64 - 1] & (1 << UInt64(index % 64)) != 0
  }

  @inlinable
  func setOwns(_ index: Int, _ value: Bool) {
    if index < 64 {
      let bit: UInt64 = 1 << UInt64(index)
      owned = value ? owned | bit : owned & ~bit
    } else {
      setOwnsBeyond(index, value)
    }
  }

  @usableFromInline
  func setOwnsBeyond(_ index: Int, _ value: Bool) {
    let bit: UInt64 = 1 << UInt64(index % 64)
    let words = unsafe ownedBeyond
    if value { unsafe words[index / 64 - 1] |= bit } else { unsafe words[index / 64 - 1] &= ~bit }
  }

  // What is let go may have a `deinit`, which may know this record, and do anything with it. So things
  // are let go last, when all that is written here is true again, and while the target is lent.

  /// A word that was owned, and is no part of the record any more.
  struct Taken {
    let word: UInt64
    let ownership: ValueOwnership
  }

  func letGo(_ taken: Taken) {
    switch taken.ownership {
    case .none: break
    case .cString: OwnedCString.release(taken.word)
    case .object: lendingTarget { OwnedObject.release(taken.word) }
    }
  }

  /// Takes out what argument `index` holds, which the caller lets go.
  func takeArgument(_ index: Int) -> Taken {
    let slot = slot(index)
    let taken = Taken(word: slot.word, ownership: owns(index) ? slot.kind.ownership : .none)
    setOwns(index, false)
    slot.word = 0
    return taken
  }

  /// Takes out an object or text that is the result, which the caller lets go.
  func takeResult() -> Taken {
    let taken = Taken(word: resultSlot.word, ownership: resultOwnership)
    hasResult = false
    if taken.ownership != .none {
      resultOwnership = .none
      resultSlot.word = 0
    }
    return taken
  }

  /// Runs a call without a result from before, which is let go when the call is over.
  @inline(__always)
  func replacingResult<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard resultOwnership != .none else {
      hasResult = false
      return try body()
    }
    let old = takeResult()
    defer { letGo(old) }
    return try body()
  }

  /// Gives back what argument `index` owns.
  func releaseOwned(_ index: Int) { letGo(takeArgument(index)) }

  @usableFromInline
  func releaseArguments() {
    for index in 0..<argumentCount where owns(index) { releaseOwned(index) }
  }

  /// Forgets the result, and lets go of it.
  @usableFromInline
  func releaseResult() { letGo(takeResult()) }

  // MARK: Keeping what is borrowed

  /// Whether argument `index` is to be kept when it is set.
  func isRetaining(_ index: Int) -> Bool {
    guard retainsArguments, index > 0 || !isTargetLent else { return false }
    return index == 0 && plan.signature.shape == .method ? retainsTarget : true
  }

  /// Makes argument `index`, which is borrowed, the record's own.
  func retain(_ index: Int) {
    let slot = slot(index)
    guard slot.kind.isOwnable, !slot.isNull else { return }
    if slot.kind.isCString {
      slot.word = OwnedCString.copy(ofAddress: slot.word)
    } else {
      OwnedObject.retain(slot.word)
    }
    setOwns(index, true)
  }

  /// Makes everything that is borrowed the record's own, for good: whoever lent it is about to let go.
  func keepEverything() {
    keepArguments()
    if hasResult { keepResult() } else { clearResult() }
  }

  func keepArguments() {
    let first = isTargetLent ? 1 : 0
    for index in first..<max(first, argumentCount) where !owns(index) { retain(index) }
  }

  /// Leaves nothing in the place of an object or C string, so that what is found there afterwards was
  /// put there.
  func clearResult() {
    let slot = resultSlot
    if slot.kind.isOwnable { slot.word = 0 }
  }

  /// Makes a borrowed result the record's own.
  func keepResult() {
    let slot = resultSlot
    guard resultOwnership == .none, slot.kind.isOwnable, !slot.isNull else { return }
    if slot.kind.isCString {
      slot.word = OwnedCString.copy(ofAddress: slot.word)
      resultOwnership = .cString
    } else {
      OwnedObject.retain(slot.word)
      resultOwnership = .object
    }
  }
}
