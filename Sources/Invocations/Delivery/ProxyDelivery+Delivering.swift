// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// What became of a proxy's requirement.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// let answer = ProxyAnswer.answered(5)
/// if case .answered(let number) = answer { print(number) }  // 5
/// ```
@_documentation(visibility: internal)
@frozen
public enum ProxyAnswer<Result> {
  case answered(Result)
  /// No target answered. A sender that can throw throws the error, if there is one.
  case unanswered((any Error)?)
  /// A target threw, or the message could not be delivered. A sender that cannot throw the error
  /// gets the answer of another target, if there is one.
  case failed(any Error, Result?)
}

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
    let list = unsafe targets.list.unsafelyUnwrapped
    let owned = unsafe fwd_owned_list_of(list)
    var round = unsafe fwd_direct_begin(fwd_list_place(owned), list)
    if unsafe round.list == nil { unsafe round = begin(targets, list) }
    guard let kept = unsafe round.list else {
      return .failed(refusal(selector()), nil)
    }
    // What is combined is asked of all.
    let stopsAtFirst =
      unsafe fwd_list_stops_at_first(
        owned, Result.self == Void.self || site.combine != nil ? 0 : 1) != 0
    var turn = unsafe fwd_direct_turn(kept, FWDDirectTurn())
    var result: Result?
    /// The target of the result.
    var last = unsafe turn.member
    var hasQueued = false
    // Allocated only if a delivery does more than call targets.
    var rest: UnsafeMutablePointer<ProxyDelivery>?
    while let member = unsafe turn.member {
      var answer: Result?
      let taken = unsafe fwd_direct_take(member, targets.proxy, site.place)
      if let object = unsafe taken.object {
        if site.isOptional { unsafe fwd_forget_left_out(round.thread) }
        do throws(Failure) {
          answer = try unsafe _withUnprotectedUnsafePointer(
            to: (object, taken.table)
          ) { words throws(Failure) in
            // SAFETY: a value of a protocol for objects is the object and the table.
            try direct(
              unsafe UnsafeRawPointer(words).assumingMemoryBound(to: ProxyTarget<Target>.self)
                .pointee)
          }
          if site.isOptional, unsafe !isAnswer(of: object, round, selector, at: member) {
            answer = nil
          }
        } catch {
          if unsafe !site.isOptional || isAnswer(of: object, round, selector, at: member) {
            unsafe fail(error, in: ProxyTurn(site, targets, round, at: member), &rest)
          }
        }
        unsafe fwd_direct_give_back(taken)
      } else {
        let other: Turn<Result> = unsafe turnElsewhere(
          ProxyTurn(site, targets, round, at: member), &rest, selector, direct, later, send)
        switch other {
        case .answered(let other): answer = other
        case .queued: hasQueued = true
        case .over: break
        }
      }
      if let answer {
        if let old = result {
          if let combine = site.combine {
            result = combine(old, answer)
          } else {
            if Result.self != Void.self, unsafe fwd_list_rules(owned) & UInt32(FWD_LIST_TELLS) != 0
            {
              unsafe overrule(old, by: answer, at: last, selector(), targets.owner)
            }
            result = answer
          }
        } else {
          result = answer
        }
        unsafe last = member
        if stopsAtFirst { break }
      } else if hasQueued, stopsAtFirst {
        // One target is asked, and has the call.
        break
      }
      if unsafe rest != nil, unsafe endsAtError(rest, owned) { break }
      unsafe turn.member = member + 1
      unsafe turn = fwd_direct_turn(kept, turn)
    }
    if unsafe rest == nil {
      if let result {
        unsafe fwd_direct_end(round)
        return .answered(result)
      }
      // A target that has the call on its queue gets it, and a proxy with an answer of its own asks for
      // one that is there.
      if hasQueued, !site.hasOtherwise, let nothing = () as? Result {
        unsafe fwd_direct_end(round)
        return .answered(nothing)
      }
      if !hasQueued, unsafe kept.pointee.count == 0,
        unsafe fwd_list_rules(owned) & UInt32(FWD_LIST_TELLS) == 0
      {
        unsafe fwd_direct_end(round)
        return .unanswered(nil)
      }
    }
    unsafe fwd_direct_end(round)
    return unsafe conclude(
      result, hasQueued, hasOtherwise: site.hasOtherwise, rest, targets, selector())
  }

  /// Whether a call of an optional requirement has answered, or thrown, rather than left it out.
  @inlinable @unsafe
  @inline(__always)
  static func isAnswer(
    of object: UnsafeMutableRawPointer, _ round: FWDDirectRound, _ selector: () -> Selector,
    at member: UnsafePointer<UnsafeRawPointer>
  ) -> Bool {
    if unsafe fwd_is_left_out(round.thread, object, UInt64(selector().word)) == 0 { return true }
    unsafe noteLeftOut(selector(), at: member)
    return false
  }
}
