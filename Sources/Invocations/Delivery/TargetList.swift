// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The owner of the targets in a list.
package protocol TargetListOwner: AnyObject {
  /// The list.
  var targetList: TargetList { get }
  /// Publishes the list, if it is not published.
  func publishTargets()
  /// The current members.
  func listTargets() -> [ListedTarget]
  /// Sends to a member that cannot be called directly.
  func deliver(_ call: Call, to member: ListedTarget, _ tally: inout TargetList.Tally)
  /// Sends an awaited message to a member that cannot be called directly.
  nonisolated(nonsending) func deliverAwaiting(
    _ invocation: Invocation, to member: ListedTarget, _ tally: inout TargetList.Tally) async
  /// Does the work that no sender sees: removes dead targets, and reports the errors after the
  /// first.
  func tidy(_ tally: TargetList.Tally, of selector: Selector)
  /// Decides the outcome of a call that no target has answered.
  func answer(_ call: Call, for tally: TargetList.Tally) throws
  /// Decides the outcome of a requirement without a result and without a message, which no target has
  /// answered.
  func answerNothing(_ selector: Selector, hasOtherwise: Bool, for tally: TargetList.Tally) throws
  /// Decides the outcome of an awaited message that no target has answered.
  nonisolated(nonsending) func answerAwaiting(
    _ invocation: Invocation, for tally: TargetList.Tally) async throws
}

/// The targets of a proxy, published as immutable lists that are replaced.
///
/// A delivery holds the list that it found, without a lock, a retain or a release. The owner
/// changes the members under its own lock, and withdraws the list there.
@safe
@usableFromInline
package final class TargetList: @unchecked Sendable {
  // SAFETY: stored behind the header of this object, and only accessed through its address. The
  // place is changed by atomic operations, and its old content is retired. The members are changed
  // under the owner's lock.
  private nonisolated(unsafe) var stored = unsafe FWDOwnedList()

  var owned: UnsafeMutablePointer<FWDOwnedList> {
    unsafe fwd_owned_list_of(Unmanaged.passUnretained(self).toOpaque())
  }

  var place: UnsafeMutablePointer<FWDListPlace> { unsafe fwd_list_place(owned) }

  var members: UnsafeMutablePointer<FWDMembers> { unsafe fwd_list_members(owned) }

  /// Whether deliveries find a published list.
  var isPublished: Bool { unsafe fwd_published(&place.pointee.list) != nil }

  /// Records an awaited delivery to the members with numbers up to `newest`. The caller has the
  /// owner's lock.
  package func beginAwaited(newest: UInt64) {
    unsafe fwd_list_begin_awaited(owned, newest)
  }

  package func endAwaited() { unsafe fwd_list_end_awaited(owned) }

  /// Whether an awaited delivery may reach a member. The caller has the owner's lock, and has
  /// withdrawn the list.
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

  /// Releases a withdrawn list of this object, at once or after the last delivery that holds it.
  /// Targets may die here, so the caller must not hold a lock.
  package func retire(_ old: Withdrawn) {
    if let list = unsafe old.list { unsafe fwd_targets_retire(place, list) }
  }

  /// Withdraws the list. The next delivery requests a new one.
  package func withdraw() -> Withdrawn {
    guard isPublished else { return unsafe Withdrawn(list: nil) }
    return unsafe Withdrawn(
      list: fwd_publish(&place.pointee.list, nil)?.assumingMemoryBound(to: FWDTargetList.self))
  }

  /// Publishes the members, whose numbers are at most `newest`. The owner calls this under its
  /// lock.
  package func publish(newest: UInt64) {
    // Another delivery may have published first.
    guard !isPublished, let list = unsafe fwd_members_list(members, newest) else { return }
    _ = unsafe fwd_publish(&place.pointee.list, list)
  }

  /// An error of a target. It does not retain the member, because the code that is notified of it
  /// may wait for the member's end.
  @usableFromInline
  package struct LaterError {
    package let id: UInt64
    package let identity: ObjectIdentifier
    package let type: Any.Type
    package let error: any Error

    init(_ member: ListedTarget, _ error: any Error) {
      (id, identity, type) = (member.id, member.identity, member.targetType)
      self.error = error
    }
  }

  /// The outcome of a delivery, small enough for four registers.
  @usableFromInline
  @frozen
  package struct Tally {
    /// The number of targets that answered.
    @usableFromInline package var answered = 0
    /// Whether messages were enqueued.
    @usableFromInline package var hasQueued = false
    /// Whether a target was dead.
    @usableFromInline package var metDead = false
    /// Whether all errors are collected, for a report. Next to the other flags; after `error` it
    /// would take a word.
    @usableFromInline var isForReport = false
    /// The first error, which is thrown.
    @usableFromInline package private(set) var error: (any Error)?
    /// The later errors, which are not thrown, with their targets.
    @usableFromInline package internal(set) var laterErrors: [LaterError] = []

    @inlinable
    package init(answered: Int = 0) { self.answered = answered }

    /// Whether no error or dead target needs to be handled.
    @inlinable
    func isSimple(_ hasResult: Bool) -> Bool {
      (answered > 0 || (hasQueued && !hasResult)) && error == nil && !metDead
    }

    /// Records an error. A left-out optional requirement is not one.
    package mutating func fail(_ error: any Error, at member: ListedTarget) {
      if isForReport { return laterErrors.append(LaterError(member, error)) }
      if error is NotImplemented { return }
      if self.error == nil {
        self.error = error
      } else {
        laterErrors.append(LaterError(member, error))
      }
    }

    /// Records an error without a target, such as a message that could not be sent.
    mutating func fail(_ error: any Error) { if self.error == nil { self.error = error } }
  }

  /// Sends a call to the targets in order, and returns the outcome. Returns nil if all targets
  /// simply answered, or if a call without a result was enqueued.
  ///
  /// A target whose class has a method is called with this frame. `owner` handles the other
  /// targets.
  ///
  /// - Throws: ``InvocationError`` if the call comes back to the list that is delivering it.
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
    return tally.isSimple(call.returnsValue || UnansweredMessages.hasOtherwise(call)) ? nil : tally
  }

  /// Continues a delivery where the C core stopped.
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

  /// Enters the step of a delivery, and begins its round. Returns false if the thread cannot hold another list; the
  /// step is entered all the same.
  @unsafe
  func begin(
    _ round: inout FWDRound, _ call: Call, of selector: Selector, for owner: some TargetListOwner
  ) throws(InvocationError) -> Bool {
    try ForwardingDepth.enter(self, call, selector, for: owner)
    // An old result must not pass for an answer to this message.
    call.forgetResult()
    if !isPublished { owner.publishTargets() }
    return unsafe fwd_round_begin(&round, place, UInt64(selector.word)) != 0
  }

  /// Begins a delivery that needs work before the first target, or that must throw.
  @unsafe
  private func begin(
    _ round: inout FWDRound, _ call: Call, _ owner: some TargetListOwner
  ) throws(InvocationError) -> Tally {
    guard let selector = call.selector else { throw .selectorNotSet }
    guard try unsafe begin(&round, call, of: selector, for: owner) else {
      // The thread cannot hold another list, so the members are called one by one.
      defer { ForwardingDepth.leave() }
      let stopsAtFirst = unsafe round.stops_at_first != 0
      var tally = Tally()
      for member in owner.listTargets() where !stopsAtFirst || tally.answered == 0 {
        owner.deliver(call, to: member, &tally)
        if tally.error != nil, stopsAtFirstError { break }
      }
      return tally
    }
    guard unsafe fwd_round_go_on(&round, call.facts, call.state) != 0 else {
      return unsafe Tally(answered: round.answered)
    }
    return unsafe finish(&round, call, owner)
  }

  /// Continues with the targets that are not called directly, from the one that the round stopped
  /// at.
  @unsafe
  @inline(__always)
  private func finish(
    _ round: inout FWDRound, _ call: Call, _ owner: some TargetListOwner
  ) -> Tally {
    var tally = Tally()
    let endsAtError = stopsAtFirstError
    repeat {
      guard let cache = unsafe round.cache else { break }
      guard let turn = unsafe round.next else { break }
      tally.answered = unsafe round.answered
      if let method = unsafe round.method, let stop = unsafe fwd_round_stop(&round) {
        let run = unsafe MethodRun(call: call, method: method, cache: cache)
        unsafe round.next = run.perform(from: turn, to: endsAtError ? turn + 1 : stop, &tally)
      }
      if unsafe round.next == turn {
        owner.deliver(call, to: unsafe member(at: turn), &tally)
        unsafe round.next = turn + 1
      }
      unsafe round.answered = tally.answered
      if endsAtError, tally.error != nil { unsafe fwd_round_skip_rest(&round) }
    } while unsafe fwd_round_go_on(&round, call.facts, call.state) != 0
    tally.answered = unsafe round.answered
    return tally
  }
}
