// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

// Targets that a proxy calls on their lanes, or with other options.
extension ProxyDelivery {
  /// Calls a target on its lane, synchronously or later, or here if its options allow it.
  @usableFromInline @unsafe
  static func turnInLane(
    _ call: ProxyTurn, _ selector: Selector, _ later: (inout QueuedCall) -> Void,
    _ direct: (UnsafeRawPointer) throws -> Void
  ) -> LaneTurn {
    let (place, targets, index) = unsafe (call.member, call.targets, call.facts.place)
    let isOptional = call.facts.isOptional
    guard let table = unsafe fwd_direct_table(place, targets.proxy, index) else { return .message }
    return unsafe Unmanaged<ListedTarget>.fromOpaque(place.pointee)._withUnsafeGuaranteedRef {
      member in
      func laterCall() -> LaterCall? {
        // A message finds out without the lane that a class leaves out the requirement.
        guard !isOptional || isKnown(selector, member.type) else { return nil }
        var call = unsafe QueuedCall(
          LaterCall.Turn(
            member: .passUnretained(member), table: table, index: index, selector: selector,
            isOptional: isOptional))
        later(&call)
        return call.call
      }
      let way = member.way
      // A target with a queue lends its notes, which never change.
      if case .queued = way, let notes = unsafe member.lentNotes {
        return unsafe notes._withUnsafeGuaranteedRef { notes in
          guard let queue = notes.queue, member.isAlive, let call = laterCall() else {
            return .message
          }
          member.markReached()
          call.travel(on: queue)
          return .queued
        }
      }
      // A message records that the target is dead.
      var turn = LaneTurn.message
      unsafe member.withAddress { object in
        func isAnswered() throws -> Bool {
          try unsafe member.isAnswered(object, isOptional ? selector : nil) {
            try unsafe _withUnprotectedUnsafePointer(to: (object, table)) { words in
              try unsafe direct(UnsafeRawPointer(words))
            }
          }
        }
        switch way {
        case .called, .queued: break
        case .awaited:
          guard let notes = unsafe member.lentNotes else { break }
          turn = unsafe notes._withUnsafeGuaranteedRef {
            $0.lane.call(member, selector, isAnswered)
          }
        case .special:
          guard let owner = targets.owner else { break }
          turn = owner.callSpecially(
            member, selector, mayLeaveOut: isOptional, isAnswered, later: laterCall)
        }
      }
      return turn
    }
  }

  /// Whether an earlier message has found the class's method.
  private static func isKnown(_ selector: Selector, _ type: AnyClass) -> Bool {
    guard let thread = unsafe fwd_thread(),
      let method = unsafe fwd_method_hold(
        thread, UInt(bitPattern: ObjectIdentifier(type)), selector.word)
    else { return false }
    defer { unsafe fwd_let_go(thread) }
    return unsafe method.pointee.implementation != nil
  }
}

/// The outcome of a turn in a lane.
@usableFromInline
package enum LaneTurn {
  /// The target answered.
  case answered
  /// The call was sent to the lane.
  case queued
  /// The target left out the requirement, or was not to be called.
  case over
  /// The target threw, or the wait would never end.
  case failed(any Error)
  /// The target needs a message.
  case message
}

extension TargetLane {
  /// Calls `member` on the queue, and waits.
  func call(
    _ member: ListedTarget, _ selector: Selector, _ isAnswered: () throws -> Bool
  ) -> LaneTurn {
    member.markReached()
    var turn = LaneTurn.over
    let refusal = wait(for: member, selector) {
      do { if try isAnswered() { turn = .answered } } catch { turn = .failed(error) }
    }
    return refusal.map { .failed($0) } ?? turn
  }
}
