import CForwardingShims

/// One target of a list, and what may change about it while deliveries hold lists that it is in.
@safe
package final class ListedTarget: @unchecked Sendable {
  /// The object.
  package let reference: ObjectReference
  // SAFETY: allocated in `init`, freed in `deinit`, and changed by atomic operations alone.
  fileprivate let state: UnsafeMutablePointer<FWDTargetState>

  /// - Parameters:
  ///   - isSpecial: whether a delivery may not simply call it.
  ///   - blocks: how often it is blocked from the start.
  package init(_ reference: ObjectReference, isSpecial: Bool, blocks: Int = 0) {
    self.reference = reference
    unsafe state = .allocate(capacity: 1)
    let flags = UInt32(isSpecial ? FWD_TARGET_SPECIAL : 0) + UInt32(blocks * FWD_TARGET_BLOCK)
    unsafe state.initialize(
      to: FWDTargetState(flags: flags, is_strong: reference.isStrong ? 1 : 0))
  }

  deinit { unsafe state.deallocate() }

  package var isRemoved: Bool {
    unsafe fwd_target_flags(state) & UInt32(FWD_TARGET_REMOVED) != 0
  }

  package func markRemoved() { unsafe fwd_target_mark_removed(state) }

  package var isBlocked: Bool { unsafe fwd_target_flags(state) >= UInt32(FWD_TARGET_BLOCK) }

  /// How often it is blocked.
  package var blocks: Int { unsafe Int(fwd_target_flags(state)) / FWD_TARGET_BLOCK }

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
  /// Decides what the sender gets.
  func conclude(_ call: LentCall, _ tally: TargetList.Tally) throws
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
    fileprivate let list: UnsafeMutablePointer<FWDTargetList>?

    /// Lets it go, at once or when the last delivery is through with it. Targets may die of that:
    /// no lock may be held.
    package func retire() {
      if let list = unsafe list { unsafe fwd_targets_retire(list) }
    }
  }

  /// Takes the list away; the next delivery asks for a new one.
  package func withdraw() -> Withdrawn {
    unsafe Withdrawn(list: fwd_publish(place, nil)?.assumingMemoryBound(to: FWDTargetList.self))
  }

  /// Publishes a list of members, which it keeps; called by the owner, under its lock.
  package func publish<Member: AnyObject>(
    _ members: [Member], _ listed: (Member) -> ListedTarget
  ) {
    // Another delivery may have been faster.
    guard unsafe fwd_published(place) == nil else { return }
    guard let list = unsafe fwd_targets_create(members.count) else { return }
    for (index, member) in members.enumerated().reversed() {
      let target = listed(member)
      let object = unsafe target.reference.address
      unsafe fwd_target_set(
        list, index,
        FWDTarget(
          object: object, type: target.reference.typeWord, state: target.state,
          member: Unmanaged.passRetained(member).toOpaque(), run: 0))
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
    /// The first error, which is thrown.
    package private(set) var error: (any Error)?
    /// The later ones, which are not, and the members whose targets threw them.
    package private(set) var unthrown: [(member: AnyObject, error: any Error)] = []

    package init(answered: Int = 0) { self.answered = answered }

    package mutating func fail(_ error: any Error, at member: AnyObject) {
      if self.error == nil { self.error = error } else { unthrown.append((member, error)) }
    }
  }

  /// Sends a call to the targets in order, and lets `owner` conclude unless all simply answered.
  ///
  /// A target whose class has a method is called with the frame as it is. All others, and those
  /// that need a closer look, are left to `owner`. Throws if the call comes back to the list that
  /// is delivering it.
  package func forward(
    _ call: LentCall, stopsAtFirst: Bool, for owner: some TargetListOwner
  ) throws {
    let isLent = call.record.isTargetLent
    call.record.isTargetLent = true
    defer { call.record.isTargetLent = isLent }
    var round = unsafe round(stopsAtFirst)
    let delivered = unsafe send(call, &round)
    if delivered.what == .done, delivered.answered > 0 { return }
    let tally = try unsafe tally(delivered, &round, call, owner)
    if tally.answered == 0 || tally.error != nil || tally.metDead {
      try owner.conclude(call, tally)
    }
  }

  /// Likewise, but only says what came of it.
  package func deliver(
    _ call: LentCall, stopsAtFirst: Bool, for owner: some TargetListOwner
  ) throws(InvocationError) -> Tally {
    let isLent = call.record.isTargetLent
    call.record.isTargetLent = true
    defer { call.record.isTargetLent = isLent }
    var round = unsafe round(stopsAtFirst)
    let delivered = unsafe send(call, &round)
    return try unsafe tally(delivered, &round, call, owner)
  }

  @inline(__always)
  private func round(_ stopsAtFirst: Bool) -> FWDRound {
    var round = unsafe FWDRound()
    unsafe round.stops_at_first = stopsAtFirst ? 1 : 0
    return unsafe round
  }

  @unsafe
  @inline(__always)
  private func send(_ call: LentCall, _ round: inout FWDRound) -> FWDDelivered {
    unsafe fwd_targets_deliver(
      place, Unmanaged.passUnretained(self).toOpaque(), call.record.facts, call.record.state,
      &round)
  }

  /// Does what is left to do.
  @unsafe
  @inline(never)
  private func tally(
    _ delivered: FWDDelivered, _ round: inout FWDRound, _ call: LentCall,
    _ owner: some TargetListOwner
  ) throws(InvocationError) -> Tally {
    switch delivered.what {
    case .done: return Tally(answered: Int(delivered.answered))
    case .stopped: return unsafe finish(&round, call, owner)
    case .notBegun: return try unsafe begin(&round, call, owner)
    }
  }

  /// Begins where something else comes first, or there is an error to be told.
  @unsafe
  private func begin(
    _ round: inout FWDRound, _ call: LentCall, _ owner: some TargetListOwner
  ) throws(InvocationError) -> Tally {
    guard let selector = call.record.selector else { throw .selectorNotSet }
    try ForwardingDepth.enter(self, call, selector, for: owner)
    // An older result must not pass for an answer to this message.
    call.record.forgetResult()
    if unsafe fwd_published(place) == nil { owner.publishTargets() }
    guard unsafe fwd_round_begin(&round, place, UInt64(selector.word)) != 0 else {
      // Deeper in deliveries than a thread can hold lists.
      defer { ForwardingDepth.leave() }
      var tally = Tally()
      let stopsAtFirst = unsafe round.stops_at_first != 0
      owner.deliverToEach(call, stopsAtFirst: stopsAtFirst, &tally)
      return tally
    }
    guard unsafe fwd_round_go_on(&round, call.record.facts, call.record.state) != 0 else {
      return unsafe Tally(answered: round.answered)
    }
    return unsafe finish(&round, call, owner)
  }

  /// Goes on with the targets that are not simply called, from the one that the round stopped at.
  @unsafe
  @inline(__always)
  private func finish(
    _ round: inout FWDRound, _ call: LentCall, _ owner: some TargetListOwner
  ) -> Tally {
    var tally = Tally()
    repeat {
      guard let list = unsafe round.list, let cache = unsafe round.cache else { break }
      let index = unsafe round.next
      tally.answered = unsafe round.answered
      if let method = unsafe round.method {
        let run = unsafe MethodRun(
          record: call.record, method: method, cache: cache, list: list)
        unsafe round.next = run.perform(from: index, to: index + fwd_round_run(&round), &tally)
      }
      if unsafe round.next == index {
        let target = unsafe fwd_target_at(list, index)
        owner.deliver(call, to: unsafe member(of: target), &tally)
        unsafe round.next = index + 1
      }
      unsafe round.answered = tally.answered
    } while unsafe fwd_round_go_on(&round, call.record.facts, call.record.state) != 0
    tally.answered = unsafe round.answered
    return tally
  }
}

@unsafe
private func member(of target: UnsafePointer<FWDTarget>) -> AnyObject {
  unsafe Unmanaged<AnyObject>.fromOpaque(target.pointee.member).takeUnretainedValue()
}

/// One method, called on as many targets in a row as it fits.
@safe
private struct MethodRun {
  // SAFETY: all are valid while the delivery holds the list and the methods.
  let record: CallRecord
  let method: UnsafePointer<FWDMethod>
  let cache: UnsafePointer<FWDMethodCache>
  let list: UnsafePointer<FWDTargetList>

  /// Calls it from one target on, and gives the index of the first that was not called.
  @inline(__always)
  func perform(from index: Int, to end: Int, _ tally: inout TargetList.Tally) -> Int {
    let slot = record.slot(0)
    let receiver = slot.word
    defer { slot.word = receiver }
    guard unsafe method.pointee.is_plain != 0, unsafe method.pointee.function == nil else {
      return callWithCare(index, end, &tally)
    }
    let next = callBody(index, end, &tally)
    if tally.answered > 0 { record.hasResult = record.returnsValue }
    return next
  }

  /// Calls a Swift body whose result needs no care; if it throws, that of an earlier one stays, as a
  /// body writes its result last.
  @inline(never)
  private func callBody(_ index: Int, _ end: Int, _ tally: inout TargetList.Tally) -> Int {
    guard let implementation = unsafe method.pointee.implementation else { return index }
    let receiver = unsafe record.frame + Int(record.slot(0).slot.pointee.offset)
    let frame = unsafe FrameReference(record.frame)
    return unsafe Unmanaged<Implementation>.fromOpaque(implementation)._withUnsafeGuaranteedRef {
      implementation in
      var target = unsafe fwd_target_at(list, index)
      let stop = unsafe fwd_target_at(list, end)
      var failures = 0
      unsafe record.state.pointee.uses &+= 1
      defer { unsafe record.state.pointee.uses &-= 1 }
      while unsafe target != stop {
        let taken = unsafe fwd_target_take(target)
        guard let object = unsafe taken.object else { break }
        unsafe receiver.storeBytes(of: UInt(bitPattern: object), as: UInt.self)
        do {
          try implementation.body(frame)
        } catch {
          failures += 1
          tally.fail(error, at: unsafe member(of: target))
        }
        unsafe fwd_target_give_back(taken)
        unsafe target += 1
        if unsafe fwd_method_is_current(cache) == 0 { break }
      }
      let called = unsafe target - fwd_target_at(list, index)
      tally.answered += called - failures
      return index + called
    }
  }

  /// Calls a method of whatever kind, with a result that may be owned.
  @inline(never)
  private func callWithCare(_ index: Int, _ end: Int, _ tally: inout TargetList.Tally) -> Int {
    var index = index
    while index < end {
      let target = unsafe fwd_target_at(list, index)
      let taken = unsafe fwd_target_take(target)
      guard let object = unsafe taken.object else { break }
      record.slot(0).word = UInt64(UInt(bitPattern: object))
      do {
        try unsafe record.performKeepingResult(method)
        tally.answered += 1
      } catch {
        tally.fail(error, at: unsafe member(of: target))
      }
      unsafe fwd_target_give_back(taken)
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
    let old = takeResult()
    do {
      try unsafe perform(method)
    } catch {
      // Of a result that nobody owns the bytes are still there.
      if old.ownership != .none {
        resultSlot.word = old.word
        resultOwnership = old.ownership
      }
      hasResult = had
      throw error
    }
    letGo(old)
  }
}
