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
    let (place, index, isOptional) = unsafe (call.member, call.place, call.facts.isOptional)
    guard let table = unsafe fwd_direct_table(place, call.targets.proxy, index) else {
      return .message
    }
    return unsafe Unmanaged<ListedTarget>.fromOpaque(place.pointee)._withUnsafeGuaranteedRef {
      member in
      if member.isRemoved || member.isBlocked { return .over }
      // A message records that the target is dead.
      guard member.isSpecial, member.isAlive, let owner = call.targets.owner else {
        return .message
      }
      return owner.call(member, selector, mayLeaveOut: isOptional) {
        var isAnswered = false
        try unsafe member.withAddress { object in
          isAnswered = try unsafe member.isAnswered(object, isOptional ? selector : nil) {
            try unsafe _withUnprotectedUnsafePointer(to: (object, table)) { words in
              try unsafe direct(UnsafeRawPointer(words))
            }
          }
        }
        return isAnswered
      } later: {
        // A message finds out without the lane that a class leaves out the requirement.
        guard !isOptional || isKnown(selector, member.type) else { return nil }
        var call = unsafe QueuedCall(
          LaterCall.Requirement(
            table: table, index: index, selector: selector, isOptional: isOptional))
        later(&call)
        return call.take()
      }
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
