// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// The outcome of a face's message.
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
  /// No target answered. A sender that can throw throws this error.
  case unanswered(any Error)
  /// A target threw, or the message could not be delivered.
  case failed(any Error)
}

extension FaceDelivery {
  /// Delivers a requirement: calls the targets that the face may call directly, and sends messages
  /// to the others.
  ///
  /// - Parameters:
  ///   - hasOtherwise: whether the face answers where no target does.
  ///   - place: where the tables of a target have that of the protocol.
  ///   - direct: calls the requirement of a target.
  ///   - later: enqueues the call of a requirement without a result; does nothing if that needs a
  ///     message.
  ///   - send: sends the message.
  @inlinable
  @inline(__always)
  package static func deliver<Target, Result, Failure: Error>(
    _ selector: () -> Selector, isOptional: Bool, hasOtherwise: Bool, to targets: FaceTargets,
    of proxy: AnyObject, _ place: Int,
    _ direct: (borrowing FaceTarget<Target>) throws(Failure) -> Result,
    _ later: (inout QueuedCall) -> Void,
    _ send: (inout FaceDelivery) throws -> Result
  ) -> FaceAnswer<Result> {
    var round = unsafe FWDDirectRound()
    var turn = unsafe FWDDirectTurn()
    var result: Result?
    var answered = 0
    var hasQueued = false
    var failure: (any Error)?
    if let list = unsafe targets.list {
      let owned = unsafe fwd_owned_list_of(list)
      unsafe round = fwd_direct_begin(fwd_list_place(owned), list)
      if let held = unsafe round.list {
        let stopsAtFirst =
          unsafe fwd_list_stops_at_first(owned, Result.self == Void.self ? 0 : 1) != 0
        unsafe turn = fwd_direct_turn(held, turn)
        calls: while let member = unsafe turn.member {
          let taken = unsafe fwd_direct_take(member, targets.face, place)
          guard let object = unsafe taken.object else {
            switch unsafe callOnQueue(
              at: member, targets, place, selector, isOptional: isOptional, direct, later)
            {
            case .answered(let answer):
              result = answer
              answered &+= 1
            case .queued: hasQueued = true
            case .over: break
            case .failed(let error): failure = error
            case .message: break calls
            }
            if failure != nil { break }
            if stopsAtFirst, answered > 0 {
              unsafe turn.member = nil
              break
            }
            unsafe turn.member = member + 1
            unsafe turn = fwd_direct_turn(held, turn)
            continue
          }
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
              failure = error
            }
          }
          unsafe fwd_direct_give_back(taken)
          if failure != nil { break }
          if stopsAtFirst, answered > 0 {
            unsafe turn.member = nil
            break
          }
          unsafe turn.member = member + 1
          unsafe turn = fwd_direct_turn(held, turn)
        }
        if unsafe turn.member == nil {
          if answered > 0, let result {
            unsafe fwd_direct_end(round)
            return .answered(result)
          }
          if let nothing: Result = answerOfQueue(hasQueued, hasOtherwise) {
            unsafe fwd_direct_end(round)
            return .answered(nothing)
          }
        }
      }
    }
    return unsafe finish(
      round, turn, result, answered, hasQueued, failure, selector, isOptional: isOptional,
      hasOtherwise: hasOtherwise, to: targets, of: proxy, place, direct, later, send)
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
