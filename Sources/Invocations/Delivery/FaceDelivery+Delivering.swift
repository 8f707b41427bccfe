// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// What became of a face's requirement.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// let answer = FaceAnswer.answered(5)
/// if case .answered(let number) = answer { print(number) }  // 5
/// ```
@_documentation(visibility: internal)
@frozen
public enum FaceAnswer<Result> {
  case answered(Result)
  /// No target answered. A sender that can throw throws the error, if there is one.
  case unanswered((any Error)?)
  /// A target threw, or the message could not be delivered. A sender that cannot throw the error
  /// gets the answer of another target, if there is one.
  case failed(any Error, Result?)
}

extension FaceDelivery {
  /// Delivers a requirement: calls the targets that the face may call directly. The other turns are
  /// functions of their own, as they take addresses of variables that this loop has in registers.
  ///
  /// - Parameters:
  ///   - hasOtherwise: whether the face answers where no target does.
  ///   - place: where the tables of a target have that of the protocol.
  ///   - direct: calls the requirement of a target.
  ///   - later: enqueues the call of a requirement without a result; does nothing if that needs a
  ///     message.
  ///   - send: sends the message; nil if the target does not answer.
  @inlinable
  @inline(__always)
  package static func deliver<Target, Result, Failure: Error>(
    _ selector: () -> Selector, isOptional: Bool, hasOtherwise: Bool, to targets: FaceTargets,
    of proxy: AnyObject, _ place: Int,
    _ direct: (borrowing FaceTarget<Target>) throws(Failure) -> Result,
    _ later: (inout QueuedCall) -> Void,
    _ send: (inout FaceDelivery) throws -> Result?
  ) -> FaceAnswer<Result> {
    guard let list = unsafe targets.list else {
      return unsafe sendWholly(hasOtherwise, targets, proxy, send)
    }
    let owned = unsafe fwd_owned_list_of(list)
    var round = unsafe fwd_direct_begin(fwd_list_place(owned), list)
    if unsafe round.list == nil { unsafe round = begin(targets, list, fwd_stack_address()) }
    guard let kept = unsafe round.list else {
      return .failed(refusal(selector()), nil)
    }
    let stopsAtFirst = unsafe fwd_list_stops_at_first(owned, Result.self == Void.self ? 0 : 1) != 0
    var turn = unsafe fwd_direct_turn(kept, FWDDirectTurn())
    var result: Result?
    var answered = 0
    var hasQueued = false
    // Allocated only if a delivery does more than call targets.
    var rest: UnsafeMutablePointer<FaceDelivery>?
    while let member = unsafe turn.member {
      let taken = unsafe fwd_direct_take(member, targets.face, place)
      if let object = unsafe taken.object {
        if isOptional { unsafe fwd_forget_left_out(round.thread) }
        do throws(Failure) {
          let answer = try unsafe _withUnprotectedUnsafePointer(
            to: (object, taken.table)
          ) { words throws(Failure) in
            // SAFETY: a value of a protocol for objects is the object and the table.
            try direct(
              unsafe UnsafeRawPointer(words).assumingMemoryBound(to: FaceTarget<Target>.self)
                .pointee)
          }
          if unsafe !isOptional || isAnswer(of: object, round, selector, at: member) {
            result = answer
            answered &+= 1
          }
        } catch {
          if unsafe !isOptional || isAnswer(of: object, round, selector, at: member) {
            unsafe fail(error, at: member, &rest, targets, proxy)
          }
        }
        unsafe fwd_direct_give_back(taken)
      } else {
        let other: Turn<Result> = unsafe turnElsewhere(
          at: member, &rest, round, hasOtherwise, targets, proxy, place, selector,
          isOptional: isOptional, direct, later, send)
        switch other {
        case .answered(let answer):
          result = answer
          answered &+= 1
        case .queued: hasQueued = true
        case .over: break
        }
      }
      if stopsAtFirst, answered > 0 { break }
      if unsafe rest != nil, unsafe endsAtError(rest, owned) { break }
      unsafe turn.member = member + 1
      unsafe turn = fwd_direct_turn(kept, turn)
    }
    if unsafe rest == nil {
      if answered > 0, let result {
        unsafe fwd_direct_end(round)
        return .answered(result)
      }
      // A target that has the call on its queue gets it, and a face with an answer of its own asks for
      // one that is there.
      if hasQueued, !hasOtherwise, let nothing = () as? Result {
        unsafe fwd_direct_end(round)
        return .answered(nothing)
      }
      if !hasQueued, unsafe kept.pointee.count == 0, unsafe fwd_list_rules(owned) & UInt32(FWD_LIST_TELLS) == 0 {
        unsafe fwd_direct_end(round)
        return .unanswered(nil)
      }
    }
    return unsafe conclude(
      result, hasQueued, hasOtherwise, rest, round, targets, proxy, selector())
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
