// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

extension ProxyDelivery {
  /// Delivers a requirement: calls the targets that the proxy may call directly. The other turns are
  /// functions of their own, as they take addresses of variables that this loop has in registers.
  ///
  /// - Parameters:
  ///   - direct: calls the requirement of a target.
  ///   - later: gives a lane what calls the requirement.
  ///   - send: sends the message; nil if the target does not answer.
  @inlinable
  @inline(__always)
  package static func deliver<Target, Result, Failure: Error>(
    _ site: ProxySite<Result>, _ selector: () -> Selector, to targets: ProxyTargets,
    _ direct: (borrowing ProxyTarget<Target>) throws(Failure) -> Result,
    _ later: (inout QueuedCall) -> Void,
    _ send: (inout ProxyDelivery) throws -> Result?
  ) -> ProxyAnswer<Result> {
    let owned = unsafe targets.owned
    var round = unsafe fwd_direct_begin(fwd_list_place(owned), targets.step)
    if unsafe round.list == nil { unsafe round = begin(targets) }
    guard let kept = unsafe round.list else { return .failed(refusal(selector()), nil) }
    if unsafe kept.pointee.count == 0, !targets.tellsUnanswered {
      unsafe fwd_direct_end(round)
      return .unanswered(nil)
    }
    let stopsAtFirst =
      unsafe fwd_list_stops_at_first(owned, site.facts.mayEndAtFirst ? 1 : 0) != 0
    var walk = unsafe TargetWalk(kept)
    var answers = ProxyAnswers<Result>()
    var rest = ProxyRest()
    while let member = unsafe walk.next() {
      var answer: Result?
      let taken = unsafe fwd_direct_take(member, targets.proxy, site.place)
      if let object = unsafe taken.object {
        if site.facts.isOptional { unsafe fwd_forget_left_out(round.thread) }
        do throws(Failure) {
          answer = try unsafe _withUnprotectedUnsafePointer(
            to: (object, taken.table)
          ) { words throws(Failure) in
            // SAFETY: a value of a protocol for objects is the object and the table.
            try direct(
              unsafe UnsafeRawPointer(words).assumingMemoryBound(to: ProxyTarget<Target>.self)
                .pointee)
          }
          if site.facts.isOptional, unsafe !isAnswer(of: object, round, selector, at: member) {
            answer = nil
          }
        } catch {
          if unsafe !site.facts.isOptional || isAnswer(of: object, round, selector, at: member) {
            unsafe rest.fail(error, in: ProxyTurn(site, targets, round, at: member))
          }
        }
        unsafe fwd_direct_give_back(taken)
      } else {
        answer = unsafe turnElsewhere(
          ProxyTurn(site, targets, round, at: member), &rest, selector, direct, later, send)
      }
      guard let answer else {
        if rest.endsDelivery { break }
        continue
      }
      unsafe answers.add(answer, of: member, site, targets, selector)
      if stopsAtFirst { break }
    }
    unsafe fwd_direct_end(round)
    if rest.isSimple {
      if let result = answers.result { return .answered(result) }
      // A target that has the call on its queue gets it, and a proxy with an answer of its own asks for
      // one that is there.
      if rest.hasQueued, !site.facts.hasOtherwise, let nothing = ProxyAnswer<Result>.nothing {
        return .answered(nothing)
      }
    }
    let verdict = rest.verdict(
      hasAnswer: answers.result != nil, targets, selector(), site.facts)
    return ProxyAnswer(verdict, answers.result)
  }

  /// Calls `body` with the targets that a proxy calls on the current thread, in order.
  ///
  /// - Parameters:
  ///   - isDirect: whether the objects of members are the targets.
  ///   - other: finds the target of a member that the proxy does not call; nil to skip the member.
  ///   - body: returns whether the visit goes on.
  /// - Returns: false, without having called `body`, if the thread cannot hold another list.
  /// - Throws: the error of `body`, which ends the visit.
  @inlinable
  package static func visit<Target, Failure: Error>(
    _ targets: ProxyTargets, isDirect: Bool, other: (ListedTarget) -> Target?,
    _ body: (Target) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    var round = unsafe fwd_direct_begin(fwd_list_place(targets.owned), targets.step)
    if unsafe round.list == nil { unsafe round = begin(targets) }
    guard let held = unsafe round.list else { return false }
    defer { unsafe fwd_direct_end(round) }
    var walk = unsafe TargetWalk(held)
    while let place = unsafe walk.next() {
      let taken =
        unsafe isDirect ? fwd_direct_take(place, targets.proxy, 0) : FWDDirectTarget()
      if let object = unsafe taken.object {
        if try !body(unsafe DirectValue.make(of: taken, object)) { break }
      } else if let target = other(unsafe member(at: place)), try !body(target) {
        break
      }
    }
    return true
  }

  /// Begins a delivery to a list that is not published yet, or inside of many others. Returns a round
  /// without a list if the thread cannot enter another step.
  @usableFromInline @unsafe
  @inline(never)
  static func begin(_ targets: ProxyTargets) -> FWDDirectRound {
    let (place, step) = unsafe (fwd_list_place(targets.owned), targets.step)
    repeat {
      // Another thread may withdraw the list at once.
      targets.owner?.publishTargets()
      let round = unsafe fwd_direct_begin_carefully(place, step)
      if unsafe round.list != nil { return unsafe round }
    } while ForwardingDepth.canEnter
    return unsafe FWDDirectRound()
  }

  /// The error of a delivery that cannot begin.
  @usableFromInline
  @inline(never)
  static func refusal(_ selector: Selector) -> any Error { ForwardingDepth.refusal(selector) }

  /// Whether a call of an optional requirement has answered, or thrown, rather than left it out.
  @inlinable @unsafe
  @inline(__always)
  static func isAnswer(
    of object: UnsafeMutableRawPointer, _ round: FWDDirectRound, _ selector: () -> Selector,
    at member: MemberPlace
  ) -> Bool {
    if unsafe fwd_is_left_out(round.thread, object, UInt64(selector().word)) == 0 { return true }
    unsafe noteLeftOut(selector(), at: member)
    return false
  }
}
