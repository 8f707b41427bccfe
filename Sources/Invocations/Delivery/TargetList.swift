import CForwardingShims

/// The owner of the targets that a list shows.
package protocol TargetListOwner: AnyObject {
  /// The list.
  var targetList: TargetList { get }
  /// Publishes the list if there is none.
  func publishTargets()
  /// Its members as they are.
  func listTargets() -> [ListedTarget]
  /// Sends to a member of the list that cannot simply be called.
  func deliver(_ call: Call, to member: ListedTarget, _ tally: inout TargetList.Tally)
  /// The same for a message that is awaited.
  nonisolated(nonsending) func deliverAwaiting(
    _ invocation: Invocation, to member: ListedTarget, _ tally: inout TargetList.Tally) async
  /// Runs `body` on the queue of a member, and waits; throws where that would never end.
  func wait(for member: ListedTarget, _ body: () throws -> Void) throws
  /// The queue of a member.
  func queue(of member: ListedTarget) -> RequirementQueue?
  /// Does what no sender sees: removes the dead, and tells of errors after the first.
  func tidy(_ tally: TargetList.Tally, of selector: Selector)
  /// Decides what the sender of a call gets that no target has answered.
  func answer(_ call: Call, for tally: TargetList.Tally) throws
  /// The same for a message that is awaited.
  nonisolated(nonsending) func answerAwaiting(
    _ invocation: Invocation, for tally: TargetList.Tally) async throws
}

/// The targets of a proxy as deliveries see them: a list that never changes, and is replaced.
///
/// A delivery holds the list that it found, without a lock and without counting references. The
/// owner changes the members under a lock of its own, and withdraws the list there.
@safe
@usableFromInline
package final class TargetList: @unchecked Sendable {
  // SAFETY: lies behind the header of this object, and is reached through its address alone. The place is changed
  // by atomic operations, and what was there is retired; the members are changed under the owner's lock.
  private nonisolated(unsafe) var stored = unsafe FWDOwnedList()

  var owned: UnsafeMutablePointer<FWDOwnedList> {
    unsafe fwd_owned_list_of(Unmanaged.passUnretained(self).toOpaque())
  }

  var place: UnsafeMutablePointer<FWDListPlace> { unsafe fwd_list_place(owned) }

  var members: UnsafeMutablePointer<FWDMembers> { unsafe fwd_list_members(owned) }

  /// Whether there is a list for deliveries to find.
  var isPublished: Bool { unsafe fwd_published(&place.pointee.list) != nil }

  /// Whether of several results the first one counts, and ends a delivery.
  package var stopsAtFirstResult: Bool {
    get { unsafe fwd_list_rules(owned) & UInt32(FWD_LIST_FIRST_RESULT) != 0 }
    set { unsafe fwd_list_set_rules(owned, UInt32(FWD_LIST_FIRST_RESULT), newValue ? 1 : 0) }
  }

  /// Whether one target is asked, also where there is no result.
  package var asksOne: Bool {
    get { unsafe fwd_list_rules(owned) & UInt32(FWD_LIST_ASKS_ONE) != 0 }
    set { unsafe fwd_list_set_rules(owned, UInt32(FWD_LIST_ASKS_ONE), newValue ? 1 : 0) }
  }

  /// Whether a delivery ends at the first target that answers.
  package func stopsAtFirst(hasResult: Bool) -> Bool {
    unsafe fwd_list_stops_at_first(owned, hasResult ? 1 : 0) != 0
  }

  /// Whether there is one target, which a task that was cancelled asks all the same.
  package var isOfOne: Bool {
    get { unsafe fwd_list_rules(owned) & UInt32(FWD_LIST_OF_ONE) != 0 }
    set { unsafe fwd_list_set_rules(owned, UInt32(FWD_LIST_OF_ONE), newValue ? 1 : 0) }
  }

  /// Notes a delivery that is awaited, and may have all members up to the number `newest`. The caller has the owner's
  /// lock.
  package func beginAwaited(newest: UInt64) {
    unsafe fwd_list_begin_awaited(owned, newest)
  }

  package func endAwaited() { unsafe fwd_list_end_awaited(owned) }

  /// Whether a delivery that is awaited may have a member. The caller has the owner's lock, and has withdrawn the list.
  package func isAwaited(_ member: ListedTarget) -> Bool {
    unsafe fwd_list_is_awaited(owned, member.id) != 0
  }

  package init() {}

  deinit {
    retire(withdraw())
    unsafe fwd_members_destroy(members)
  }

  /// A list that no new delivery finds.
  @safe
  package struct Withdrawn {
    fileprivate let list: UnsafeMutablePointer<FWDTargetList>?
  }

  /// Lets a list go that was withdrawn here, at once or when the last delivery is through with it. Targets
  /// may die of that: no lock may be held.
  package func retire(_ old: Withdrawn) {
    if let list = unsafe old.list { unsafe fwd_targets_retire(place, list) }
  }

  /// Takes the list away; the next delivery asks for a new one.
  package func withdraw() -> Withdrawn {
    guard isPublished else { return unsafe Withdrawn(list: nil) }
    return unsafe Withdrawn(
      list: fwd_publish(&place.pointee.list, nil)?.assumingMemoryBound(to: FWDTargetList.self))
  }

  /// Publishes the members, whose numbers are `newest` at most; called by the owner, under its lock.
  package func publish(newest: UInt64) {
    // Another delivery may have been faster.
    guard !isPublished, let list = unsafe fwd_members_list(members, newest) else { return }
    _ = unsafe fwd_publish(&place.pointee.list, list)
  }

  /// An error that a target threw. It does not keep the member: who is told of it may wait for its end.
  @usableFromInline
  package struct Unthrown {
    package let id: UInt64
    package let identity: ObjectIdentifier
    package let type: AnyClass
    package let error: any Error

    init(_ member: ListedTarget, _ error: any Error) {
      (id, identity, type) = (member.id, member.identity, member.type)
      self.error = error
    }
  }

  /// What came of a delivery. Small enough for four registers.
  @usableFromInline
  @frozen
  package struct Tally {
    /// How many targets answered.
    @usableFromInline package var answered = 0
    /// Whether messages are on their way.
    @usableFromInline package var hasQueued = false
    /// Whether a dead target was met.
    @usableFromInline package var metDead = false
    /// Whether all errors are noted, for a report. Beside the others, as behind an error it would take a word.
    @usableFromInline var isForReport = false
    /// The first error, which is thrown.
    @usableFromInline package private(set) var error: (any Error)?
    /// The later ones, which are not thrown, and whose targets threw them.
    @usableFromInline package internal(set) var unthrown: [Unthrown] = []

    @inlinable
    package init(answered: Int = 0) { self.answered = answered }

    /// Whether there is nothing to do but to go on.
    @inlinable
    func isSimple(_ hasResult: Bool) -> Bool {
      (answered > 0 || (hasQueued && !hasResult)) && error == nil && !metDead
    }

    /// Notes an error. That a class left out an optional requirement is none.
    package mutating func fail(_ error: any Error, at member: ListedTarget) {
      if isForReport { return unthrown.append(Unthrown(member, error)) }
      if error is NotImplemented { return }
      if self.error == nil { self.error = error } else { unthrown.append(Unthrown(member, error)) }
    }

    /// Notes an error of no target: a message could not be sent.
    mutating func fail(_ error: any Error) { if self.error == nil { self.error = error } }
  }

  /// Sends a call to the targets in order, and returns what came of it; nil if all simply answered,
  /// or are told later what has no result.
  ///
  /// A target whose class has a method is called with the frame as it is. All others, and those
  /// that need a closer look, are left to `owner`. Throws if the call comes back to the list that
  /// is delivering it.
  package func deliver(
    _ call: Call, stopsAtFirst: Bool, for owner: some TargetListOwner
  ) throws -> Tally? {
    let isLent = call.isTargetLent
    call.isTargetLent = true
    defer { call.isTargetLent = isLent }
    var round = unsafe FWDRound()
    unsafe round.stops_at_first = stopsAtFirst ? 1 : 0
    let delivered = unsafe fwd_targets_deliver(
      place, Unmanaged.passUnretained(self).toOpaque(), call.facts, call.state,
      &round)
    if delivered.what == .done, delivered.answered > 0 { return nil }
    let tally = try unsafe tally(delivered, &round, call, owner)
    return tally.isSimple(call.returnsValue) ? nil : tally
  }

  /// Takes a delivery on from where the C core left it.
  @unsafe
  @inline(never)
  private func tally(
    _ delivered: FWDDelivered, _ round: inout FWDRound, _ call: Call,
    _ owner: some TargetListOwner
  ) throws(InvocationError) -> Tally {
    switch delivered.what {
    case .done: return Tally(answered: Int(delivered.answered))
    case .stopped: return unsafe finish(&round, call, owner)
    case .notBegun, .wentOn: return try unsafe begin(&round, call, owner)
    }
  }

  /// Begins where something else comes first, or where an error must be thrown.
  @unsafe
  private func begin(
    _ round: inout FWDRound, _ call: Call, _ owner: some TargetListOwner
  ) throws(InvocationError) -> Tally {
    guard let selector = call.selector else { throw .selectorNotSet }
    try ForwardingDepth.enter(self, call, selector, for: owner)
    // An older result must not pass for an answer to this message.
    call.forgetResult()
    if !isPublished { owner.publishTargets() }
    guard unsafe fwd_round_begin(&round, place, UInt64(selector.word)) != 0 else {
      // Deeper in deliveries than a thread can hold lists: to the members one by one.
      defer { ForwardingDepth.leave() }
      let stopsAtFirst = unsafe round.stops_at_first != 0
      var tally = Tally()
      for member in owner.listTargets() where !stopsAtFirst || tally.answered == 0 {
        owner.deliver(call, to: member, &tally)
      }
      return tally
    }
    guard unsafe fwd_round_go_on(&round, call.facts, call.state) != 0 else {
      return unsafe Tally(answered: round.answered)
    }
    return unsafe finish(&round, call, owner)
  }

  /// Goes on with the targets that are not simply called, from the one that the round stopped at.
  @unsafe
  @inline(__always)
  private func finish(
    _ round: inout FWDRound, _ call: Call, _ owner: some TargetListOwner
  ) -> Tally {
    var tally = Tally()
    repeat {
      guard let cache = unsafe round.cache else { break }
      guard let turn = unsafe round.next else { break }
      tally.answered = unsafe round.answered
      if let method = unsafe round.method, let stop = unsafe fwd_round_stop(&round) {
        let run = unsafe MethodRun(call: call, method: method, cache: cache)
        unsafe round.next = run.perform(from: turn, to: stop, &tally)
      }
      if unsafe round.next == turn {
        owner.deliver(call, to: unsafe member(at: turn), &tally)
        unsafe round.next = turn + 1
      }
      unsafe round.answered = tally.answered
    } while unsafe fwd_round_go_on(&round, call.facts, call.state) != 0
    tally.answered = unsafe round.answered
    return tally
  }
}
