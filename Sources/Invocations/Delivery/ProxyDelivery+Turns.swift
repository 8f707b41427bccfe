// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

// The parts of a delivery that do more than call targets: they use lanes, options or messages.
extension ProxyDelivery {
  /// The turn of a target that is not called directly. Returns its answer, if it has one now.
  @inlinable @unsafe
  @inline(never)
  static func turnElsewhere<Target, Result, Failure: Error>(
    _ call: ProxyTurn, _ rest: inout ProxyRest, _ selector: () -> Selector,
    _ direct: (borrowing ProxyTarget<Target>) throws(Failure) -> Result,
    _ later: (inout QueuedCall) -> Void,
    _ send: (inout ProxyDelivery) throws -> Result?
  ) -> Result? {
    var result: Result?
    let turn = unsafe turnInLane(call, selector(), later) { words in
      // SAFETY: a value of a protocol for objects is the object and the table.
      result = try unsafe direct(words.assumingMemoryBound(to: ProxyTarget<Target>.self).pointee)
    }
    switch turn {
    // Of a call on another thread there is no result but nothing.
    case .answered: return result ?? ProxyAnswer.nothing
    case .queued: rest.noteQueued(in: call)
    case .over: break
    case .failed(let error): rest.fail(error, in: call)
    case .message: return rest.sendAlone(call, send)
    }
    return nil
  }

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
        var call = unsafe QueuedCall(selector, table, at: index, isOptional: isOptional)
        later(&call)
        return call.isGiven ? call : nil
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

  /// Sends the message to a proxy that has no list of targets. `isAnswered` sends it, and returns whether
  /// there is an answer.
  ///
  /// Inlinable, it would retain the arguments and the list of proxies that have one (row proxy/none);
  /// generic, it would look up types at each call.
  @usableFromInline
  @inline(never)
  package static func sendWholly(
    to untyped: AnyObject, _ facts: ProxyFacts, _ isAnswered: (inout ProxyDelivery) throws -> Bool
  ) -> Verdict {
    var delivery = ProxyDelivery(to: untyped, nil, facts)
    delivery.message = fwd_next_message()
    do {
      return try isAnswered(&delivery) ? .answered : .unanswered(nil)
    } catch {
      return delivery.verdict(of: error)
    }
  }

  /// Records that the class of a target left out an optional requirement.
  @usableFromInline @unsafe
  @inline(never)
  static func noteLeftOut(_ selector: Selector, at place: MemberPlace) {
    OptionalRequirement.note(leftOut: selector, by: unsafe member(at: place).type)
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

/// What a delivery at once has done besides calling targets.
@safe
@frozen
@usableFromInline
struct ProxyRest {
  // SAFETY: a local variable of the delivering function. `verdict` ends it.

  /// The outcome at targets that failed or had a message; allocated with the first.
  @usableFromInline var tally: UnsafeMutablePointer<TargetList.Tally>?
  /// Whether targets have the call on their lanes.
  @usableFromInline var hasQueued = false
  /// Whether an error, or a target that has the call on its lane, ends the delivery.
  @usableFromInline var endsDelivery = false

  @inlinable
  init() { unsafe tally = nil }

  /// Whether every target was called, and has not failed, or has the call on its lane.
  @inlinable var isSimple: Bool { unsafe tally == nil }

  private var noted: UnsafeMutablePointer<TargetList.Tally> {
    mutating get {
      if let tally = unsafe tally { return unsafe tally }
      let made = UnsafeMutablePointer<TargetList.Tally>.allocate(capacity: 1)
      unsafe made.initialize(to: TargetList.Tally())
      unsafe tally = made
      return unsafe made
    }
  }

  private mutating func noteEnd(in call: ProxyTurn) {
    let ends = unsafe DeliveryEnds(call.targets.owned, hasResult: call.facts.mayEndAtFirst)
    var tally = unsafe tally?.pointee ?? TargetList.Tally()
    tally.hasQueued = hasQueued
    endsDelivery = tally.meets(ends)
  }

  /// Notes that a target has the call on its lane.
  @usableFromInline
  @inline(never)
  mutating func noteQueued(in call: ProxyTurn) {
    hasQueued = true
    noteEnd(in: call)
  }

  /// Notes that a target threw.
  @usableFromInline
  @inline(never)
  mutating func fail(_ error: any Error, in call: ProxyTurn) {
    unsafe noted.pointee.fail(error, at: member(at: call.member))
    noteEnd(in: call)
  }

  /// Sends a message to a target that the proxy does not call.
  @usableFromInline
  @inline(never)
  mutating func sendAlone<Result>(
    _ call: ProxyTurn, _ send: (inout ProxyDelivery) throws -> Result?
  ) -> Result? {
    var delivery = ProxyDelivery(to: nil, call.targets, call.facts)
    if let thread = unsafe call.thread { delivery.message = unsafe fwd_direct_number(thread) }
    unsafe delivery.place = call.member
    unsafe swap(&delivery.tally, &noted.pointee)
    delivery.tally.hasQueued = false
    var answer: Result?
    do { answer = try send(&delivery) } catch { delivery.tally.fail(error) }
    if answer == nil, delivery.tally.hasQueued { hasQueued = true }
    unsafe swap(&delivery.tally, &noted.pointee)
    noteEnd(in: call)
    return answer
  }

  /// Decides what the sender gets.
  @usableFromInline
  @inline(never)
  func verdict(
    hasAnswer: Bool, _ targets: ProxyTargets, _ selector: Selector, _ facts: ProxyFacts
  ) -> Verdict {
    var tally = unsafe self.tally?.move() ?? TargetList.Tally()
    unsafe self.tally?.deallocate()
    tally.answered = hasAnswer ? 1 : 0
    tally.hasQueued = hasQueued
    return targets.verdict(selector, tally, facts)
  }
}
