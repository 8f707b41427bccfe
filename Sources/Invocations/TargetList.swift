import CForwardingShims

/// One target of a list, and what may change about it while deliveries hold lists that it is in.
@safe
package final class ListedTarget: @unchecked Sendable {
  /// The object.
  package let reference: ObjectReference
  // SAFETY: allocated in `init`, freed in `deinit`, and changed by atomic operations alone.
  fileprivate let state: UnsafeMutablePointer<FWDTargetState>

  /// - Parameter isSpecial: whether a delivery may not simply call it.
  package init(_ reference: ObjectReference, isSpecial: Bool) {
    self.reference = reference
    unsafe state = .allocate(capacity: 1)
    unsafe state.initialize(
      to: FWDTargetState(
        flags: isSpecial ? UInt32(FWD_TARGET_SPECIAL) : 0, is_strong: reference.isStrong ? 1 : 0))
  }

  deinit { unsafe state.deallocate() }

  package var isRemoved: Bool {
    unsafe fwd_target_flags(state) & UInt32(FWD_TARGET_REMOVED) != 0
  }

  package func markRemoved() { unsafe fwd_target_mark_removed(state) }

  package var isBlocked: Bool { unsafe fwd_target_flags(state) >= UInt32(FWD_TARGET_BLOCK) }

  package func block() { unsafe fwd_target_block(state) }

  /// False if it was not blocked.
  package func unblock() -> Bool { unsafe fwd_target_unblock(state) != 0 }
}

/// Whose targets a list shows.
package protocol TargetListOwner: AnyObject {
  /// Publishes the list: there is none.
  func publishTargets()
  /// Sends to the members one by one, without a list.
  func deliverToEach(_ call: LentCall, stopsAtFirst: Bool, _ tally: inout TargetList.Tally)
  /// Sends to a member of the list that cannot simply be called.
  func deliver(_ call: LentCall, to member: AnyObject, _ tally: inout TargetList.Tally)
}

/// The targets of a proxy as deliveries see them: a list that never changes, and is replaced.
///
/// A delivery holds the list that it found, without a lock and without counting references. The
/// owner changes its own books under a lock of its own, and withdraws the list there.
@safe
package final class TargetList: @unchecked Sendable {
  // SAFETY: one word, changed by atomic operations alone; what it pointed at is retired.
  private let place: UnsafeMutablePointer<UnsafeRawPointer?>

  package init() {
    unsafe place = .allocate(capacity: 1)
    unsafe place.initialize(to: nil)
  }

  deinit {
    withdraw().retire()
    unsafe place.deallocate()
  }

  /// A list that no new delivery finds.
  @safe
  package struct Withdrawn {
    fileprivate let list: UnsafeMutableRawPointer?

    /// Lets it go, at once or when the last delivery is through with it. Targets may die of that:
    /// no lock may be held.
    package func retire() {
      if let list = unsafe list { unsafe fwd_retire(list, fwd_targets_dispose) }
    }
  }

  /// Takes the list away; the next delivery asks for a new one.
  package func withdraw() -> Withdrawn { unsafe Withdrawn(list: fwd_publish(place, nil)) }

  /// Publishes a list of members, which it keeps; called by the owner, under its lock.
  package func publish<Member: AnyObject>(
    _ members: [Member], _ listed: (Member) -> ListedTarget
  ) {
    // Another delivery may have been faster.
    guard unsafe fwd_published(place) == nil else { return }
    guard let list = unsafe fwd_targets_create(members.count) else { return }
    for (index, member) in members.enumerated() {
      let target = listed(member)
      let object = unsafe target.reference.address
      unsafe fwd_target_set(
        list, index,
        FWDTarget(
          object: object, type: target.reference.typeWord, state: target.state,
          member: Unmanaged.passRetained(member).toOpaque()))
    }
    _ = unsafe fwd_publish(place, list)
  }

  /// What came of a delivery.
  package struct Tally {
    /// How many targets answered.
    package var answered = 0
    /// How many messages are on their way.
    package var queued = 0
    /// Whether a dead target was met.
    package var metDead = false
    /// The first error.
    package var error: (any Error)?

    package init() {}
  }

  /// Sends a call to the targets in order.
  ///
  /// A target whose class has a method is called with the frame as it is. All others, and those
  /// that need a closer look, are left to `owner`. Throws if the call comes back to the list that
  /// is delivering it.
  package func deliver(
    _ call: LentCall, stopsAtFirst: Bool, for owner: some TargetListOwner, _ tally: inout Tally
  ) throws(InvocationError) {
    guard let selector = call.record.selector else { throw .selectorNotSet }
    try ForwardingDepth.enter(self, call, selector, for: owner)
    defer { ForwardingDepth.leave() }
    // An older result must not pass for an answer to this message.
    call.record.forgetResult()
    guard let thread = unsafe fwd_thread(), let list = unsafe hold(thread, owner) else {
      // Deeper in deliveries than a thread can hold lists.
      return owner.deliverToEach(call, stopsAtFirst: stopsAtFirst, &tally)
    }
    defer { unsafe fwd_let_go(thread) }
    let round = unsafe Round(record: call.record, thread: thread, list: list)
    round.run(call, UInt(selector.word), stopsAtFirst, owner, &tally)
  }

  @unsafe
  @inline(__always)
  private func hold(
    _ thread: UnsafeMutablePointer<FWDThread>, _ owner: some TargetListOwner
  ) -> UnsafePointer<FWDTargetList>? {
    var held = unsafe fwd_hold(thread, place)
    if unsafe held == nil {
      owner.publishTargets()
      unsafe held = fwd_hold(thread, place)
    }
    return unsafe held?.assumingMemoryBound(to: FWDTargetList.self)
  }
}

/// One message on its way through one list.
@safe
private struct Round {
  // SAFETY: both are valid while the delivery holds the list.
  let record: CallRecord
  let thread: UnsafeMutablePointer<FWDThread>
  let list: UnsafePointer<FWDTargetList>

  @inline(__always)
  func run(
    _ call: LentCall, _ selector: UInt, _ stopsAtFirst: Bool, _ owner: some TargetListOwner,
    _ tally: inout TargetList.Tally
  ) {
    let count = unsafe list.pointee.count
    var index = 0
    while index < count {
      let target = unsafe fwd_target_at(list, index)
      var next = index
      if let method = unsafe fwd_method_hold(thread, target.pointee.type, selector) {
        if unsafe method.pointee.plan == record.planHandle {
          next = unsafe perform(method, index, stopsAtFirst ? index + 1 : count, &tally)
        }
        unsafe fwd_let_go(thread)
      }
      if next == index {
        let member = unsafe Unmanaged<AnyObject>.fromOpaque(target.pointee.member)
        unsafe owner.deliver(call, to: member.takeUnretainedValue(), &tally)
        next = index + 1
      }
      if stopsAtFirst, tally.answered > 0 { break }
      index = next
    }
  }

  /// Calls a method on as many targets in a row as it fits, and gives the index of the next one.
  @unsafe
  @inline(__always)
  private func perform(
    _ method: UnsafePointer<FWDMethod>, _ index: Int, _ end: Int,
    _ tally: inout TargetList.Tally
  ) -> Int {
    let cache = unsafe fwd_method_held(thread)
    let slot = record.slot(0)
    let receiver = slot.word
    defer { slot.word = receiver }
    guard unsafe method.pointee.is_plain != 0 else {
      return unsafe callWithCare(method, cache, index, end, &tally)
    }
    let next =
      unsafe method.pointee.function == nil
      ? callBody(method, cache, index, end, &tally)
      : callFunction(method, cache, index, end, &tally)
    if tally.answered > 0 { record.hasResult = record.returnsValue }
    return next
  }

  /// Calls a C function whose result needs no care.
  @unsafe
  @inline(never)
  private func callFunction(
    _ method: UnsafePointer<FWDMethod>, _ cache: UnsafePointer<FWDMethodCache>, _ index: Int,
    _ end: Int, _ tally: inout TargetList.Tally
  ) -> Int {
    let receiver = unsafe record.slot(0).slot.pointee.offset
    let next = unsafe fwd_targets_call(
      list, index, end, method, cache, record.facts.pointee.shape, receiver, record.head)
    tally.answered += next - index
    return next
  }

  /// Calls a Swift body whose result needs no care; if it throws, that of an earlier one stays, as a
  /// body writes its result last.
  @unsafe
  @inline(never)
  private func callBody(
    _ method: UnsafePointer<FWDMethod>, _ cache: UnsafePointer<FWDMethodCache>, _ index: Int,
    _ end: Int, _ tally: inout TargetList.Tally
  ) -> Int {
    guard let implementation = unsafe method.pointee.implementation else { return index }
    let type = unsafe method.pointee.type
    let receiver = unsafe record.frame + Int(record.slot(0).slot.pointee.offset)
    let frame = unsafe FrameReference(record.frame)
    return unsafe Unmanaged<Implementation>.fromOpaque(implementation)._withUnsafeGuaranteedRef {
      implementation in
      var target = unsafe fwd_target_at(list, index)
      let stop = unsafe fwd_target_at(list, end)
      var failures = 0
      while unsafe target != stop {
        guard let object = unsafe fwd_target_take(target, type) else { break }
        unsafe receiver.storeBytes(of: UInt(bitPattern: object), as: UInt.self)
        do {
          try implementation.body(frame)
        } catch {
          failures += 1
          if tally.error == nil { tally.error = error }
        }
        unsafe fwd_target_give_back(target, object)
        unsafe target += 1
        if unsafe fwd_method_is_current(cache) == 0 { break }
      }
      let called = unsafe target - fwd_target_at(list, index)
      tally.answered += called - failures
      return index + called
    }
  }

  /// Calls a method of whatever kind, with a result that may be owned.
  @unsafe
  @inline(never)
  private func callWithCare(
    _ method: UnsafePointer<FWDMethod>, _ cache: UnsafePointer<FWDMethodCache>, _ index: Int,
    _ end: Int, _ tally: inout TargetList.Tally
  ) -> Int {
    var index = index
    while index < end {
      let target = unsafe fwd_target_at(list, index)
      guard let object = unsafe fwd_target_take(target, method.pointee.type) else { break }
      record.slot(0).word = UInt64(UInt(bitPattern: object))
      do {
        try unsafe record.performKeepingResult(method)
        tally.answered += 1
      } catch {
        if tally.error == nil { tally.error = error }
      }
      unsafe fwd_target_give_back(target, object)
      index += 1
      if unsafe fwd_method_is_current(cache) == 0 { break }
    }
    return index
  }
}

extension CallRecord {
  /// Performs a method; if it throws, the result of an earlier one stays.
  @unsafe
  fileprivate func performKeepingResult(_ method: UnsafePointer<FWDMethod>) throws {
    let had = hasResult
    let ownership = resultOwnership
    guard ownership != .none else {
      do { try unsafe perform(method) } catch {
        hasResult = had
        throw error
      }
      return
    }
    let slot = resultSlot
    let word = slot.word
    resultOwnership = .none
    do {
      try unsafe perform(method)
    } catch {
      slot.word = word
      resultOwnership = ownership
      hasResult = had
      throw error
    }
    release(word, slot.kind)
  }
}
