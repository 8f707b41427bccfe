// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

extension TargetList {
  /// Sends a call without a result to the targets in order, and reports the outcome at each target.
  /// Targets are called as in a delivery without a report, and each run of them is reported after
  /// it is over.
  ///
  /// - Parameters:
  ///   - answered: called for each target that was called directly and returned.
  ///   - failed: called for each target that was called directly and threw.
  ///   - turn: sends to a target that cannot be called directly.
  /// - Returns: false if the thread cannot hold another list; then nothing was sent.
  /// - Throws: ``InvocationError`` if the call comes back to this list, or is forwarded too deeply.
  package func deliver(
    _ call: Call, of selector: Selector, for owner: some TargetListOwner,
    answered: (_ id: UInt64, _ target: ObjectIdentifier, _ type: Any.Type) -> Void,
    failed: (ListedTarget, any Error) -> Void, turn: (ListedTarget) -> Void
  ) throws(InvocationError) -> Bool {
    let isLent = call.isTargetLent
    call.isTargetLent = true
    defer { call.isTargetLent = isLent }
    var round = unsafe FWDRound()
    guard try unsafe begin(&round, call, of: selector, for: owner) else {
      ForwardingDepth.leave()
      return false
    }
    var first: MemberPlace?
    while true {
      switch unsafe fwd_round_take_run(&round, call.facts, call.state, &first) {
      case .done, .notBegun: return true
      case .wentOn: unsafe Self.tell(of: first, to: round.next, [], answered, failed)
      case .stopped:
        guard let start = unsafe first else { return true }
        if let method = unsafe round.method, let stop = unsafe fwd_round_stop(&round),
          let cache = unsafe round.cache
        {
          var tally = Tally()
          tally.isForReport = true
          let run = unsafe MethodRun(call: call, method: method, cache: cache)
          unsafe round.next = run.perform(from: start, to: stop, &tally)
          unsafe Self.tell(of: start, to: round.next, tally.laterErrors, answered, failed)
        }
        if unsafe round.next == start {
          turn(unsafe member(at: start))
          unsafe round.next = start + 1
        }
      }
    }
  }

  /// Sends a call to the targets in order, and stops after each answer, so that the owner can take it out of the call.
  ///
  /// - Parameters:
  ///   - answered: Called while the call has the answer of a target; returns whether the next target has its turn.
  ///   - failed: Called with the error that a target threw.
  ///   - turn: Sends to a target that cannot simply be called; returns whether the next target has its turn. If the
  ///     thread cannot hold another list, all targets are sent to in this way.
  /// - Throws: ``InvocationError`` if the call came back to the list that is delivering it.
  package func ask(
    _ call: Call, of selector: Selector, for owner: some TargetListOwner,
    answered: () -> Bool, failed: (LaterError) -> Void, turn: (ListedTarget) -> Bool
  ) throws(InvocationError) {
    let isLent = call.isTargetLent
    call.isTargetLent = true
    defer { call.isTargetLent = isLent }
    var round = unsafe FWDRound()
    // The round is over at an answer, which is taken back below.
    unsafe round.stops_at_first = 1
    guard try unsafe begin(&round, call, of: selector, for: owner) else {
      defer { ForwardingDepth.leave() }
      for member in owner.listTargets() where !turn(member) { break }
      return
    }
    var first: MemberPlace?
    while true {
      var goesOn = true
      switch unsafe fwd_round_take_run(&round, call.facts, call.state, &first) {
      case .done, .notBegun: return
      case .wentOn: goesOn = answered()
      case .stopped:
        guard let start = unsafe first else { return }
        if let method = unsafe round.method, let stop = unsafe fwd_round_stop(&round),
          let cache = unsafe round.cache
        {
          var tally = Tally()
          tally.isForReport = true
          let run = unsafe MethodRun(call: call, method: method, cache: cache)
          unsafe round.next = run.perform(from: start, to: stop, &tally)
          if tally.answered > 0 {
            goesOn = answered()
          } else {
            tally.laterErrors.forEach(failed)
            goesOn = tally.laterErrors.isEmpty || !stopsAtFirstError
          }
        }
        if unsafe round.next == start {
          goesOn = turn(unsafe member(at: start))
          unsafe round.next = start + 1
        }
      }
      unsafe round.answered = goesOn ? 0 : 1
    }
  }

  /// Reports members in a row in their order; `errors` are those that some of them threw.
  @unsafe
  private static func tell(
    of first: MemberPlace?, to end: MemberPlace?,
    _ errors: [LaterError],
    _ answered: (UInt64, ObjectIdentifier, Any.Type) -> Void,
    _ failed: (ListedTarget, any Error) -> Void
  ) {
    guard var place = unsafe first, let end = unsafe end else { return }
    var thrown = errors.makeIterator()
    var next = thrown.next()
    while unsafe place < end {
      // Not retained, because the list retains it, and a retain would take as long as everything
      // else.
      unsafe Unmanaged<ListedTarget>.fromOpaque(place.pointee)._withUnsafeGuaranteedRef { member in
        if let failure = next, failure.id == member.id {
          failed(member, failure.error)
          next = thrown.next()
        } else {
          answered(member.id, member.identity, member.targetType)
        }
      }
      unsafe place += 1
    }
  }
}
