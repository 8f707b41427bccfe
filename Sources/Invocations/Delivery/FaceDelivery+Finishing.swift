// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

// The part of a delivery that does more than call targets. It takes addresses of its variables, which
// the loop in `deliver` has in registers.
extension FaceDelivery {
  /// Continues a delivery at the first target that needs more than a call, or that threw.
  @inlinable @unsafe
  @inline(never)
  static func finish<Target, Result, Failure: Error>(
    _ begun: FWDDirectRound, _ first: FWDDirectTurn, _ known: Result?, _ count: Int,
    _ enqueued: Bool, _ failure: (any Error)?, _ selector: () -> Selector,
    isOptional: Bool, hasOtherwise: Bool,
    to targets: FaceTargets, of proxy: AnyObject, _ place: Int,
    _ direct: (borrowing FaceTarget<Target>) throws(Failure) -> Result,
    _ later: (inout QueuedCall) -> Void,
    _ send: (inout FaceDelivery) throws -> Result
  ) -> FaceAnswer<Result> {
    // What the number of a message says of it.
    let bits = hasOtherwise ? FWD_OTHERWISE_MESSAGE_BIT : 0
    var (round, turn) = unsafe (begun, first)
    var (result, answered, hasQueued) = (known, count, enqueued)
    // Allocated only if a delivery does more than call targets.
    var delivery: UnsafeMutablePointer<FaceDelivery>?
    guard let list = unsafe targets.list else {
      return unsafe sendWholly(bits, targets, proxy, send)
    }
    let owned = unsafe fwd_owned_list_of(list)
    if unsafe round.list == nil {
      publish(targets)
      unsafe round = fwd_direct_begin(fwd_list_place(owned), list)
      guard let list = unsafe round.list else {
        return unsafe sendWholly(bits, targets, proxy, send)
      }
      unsafe turn = fwd_direct_turn(list, turn)
    }
    let stopsAtFirst =
      unsafe fwd_list_stops_at_first(owned, Result.self == Void.self ? 0 : 1) != 0
    let endsAtError = unsafe fwd_list_rules(owned) & UInt32(FWD_LIST_FIRST_ERROR) != 0
    if let failure, let member = unsafe turn.member {
      unsafe fail(failure, at: member, &delivery, targets, proxy)
      if endsAtError {
        unsafe turn.member = nil
      } else {
        unsafe turn.member = member + 1
        unsafe turn = fwd_direct_turn(round.list.unsafelyUnwrapped, turn)
      }
    }
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
            unsafe fail(error, at: member, &delivery, targets, proxy)
          }
        }
        unsafe fwd_direct_give_back(taken)
      } else {
        switch unsafe callOnQueue(
          at: member, targets, place, selector, isOptional: isOptional, direct, later)
        {
        case .answered(let answer):
          result = answer
          answered &+= 1
        case .queued: hasQueued = true
        case .over: break
        case .failed(let error): unsafe fail(error, at: member, &delivery, targets, proxy)
        case .message:
          unsafe sendAlone(
            to: member, &delivery, &result, &answered, round, bits, targets, proxy, send)
        }
      }
      if stopsAtFirst, answered > 0 { break }
      if endsAtError, unsafe hasFailed(delivery) { break }
      unsafe turn.member = member + 1
      unsafe turn = fwd_direct_turn(round.list.unsafelyUnwrapped, turn)
    }
    if unsafe delivery == nil {
      if answered > 0, let result {
        unsafe fwd_direct_end(round)
        return .answered(result)
      } else if let nothing: Result = answerOfQueue(hasQueued, hasOtherwise) {
        unsafe fwd_direct_end(round)
        return .answered(nothing)
      }
    }
    return unsafe conclude(
      result, answered, hasQueued, delivery, round, bits, targets, proxy, selector(), send)
  }

  /// Sends the message to a proxy that the face cannot deliver for.
  @usableFromInline @unsafe
  @inline(never)
  static func sendWholly<Result>(
    _ bits: UInt64, _ targets: FaceTargets, _ proxy: AnyObject,
    _ send: (inout FaceDelivery) throws -> Result
  ) -> FaceAnswer<Result> {
    var delivery = unsafe FaceDelivery(targets, proxy)
    delivery.message = bits
    return delivery.conclude(send)
  }

  @usableFromInline
  @inline(never)
  static func publish(_ targets: FaceTargets) { targets.owner?.proxy.publishTargets() }

  /// Sends a message to a target that the face does not call.
  @usableFromInline @unsafe
  @inline(never)
  static func sendAlone<Result>(
    to place: UnsafePointer<UnsafeRawPointer>,
    _ known: inout UnsafeMutablePointer<FaceDelivery>?, _ result: inout Result?,
    _ answered: inout Int, _ round: FWDDirectRound, _ bits: UInt64,
    _ targets: FaceTargets, _ proxy: AnyObject, _ send: (inout FaceDelivery) throws -> Result
  ) {
    var delivery = unsafe take(&known) ?? FaceDelivery(targets, proxy)
    if let thread = unsafe round.thread {
      delivery.message = unsafe fwd_direct_number(thread, bits)
    }
    delivery.destination = unsafe .target(place)
    delivery.tally.answered = answered
    do {
      result = try send(&delivery)
    } catch {
      // A target that has not answered has not failed either.
      if !(error is NotAnswered) { delivery.tally.fail(error) }
    }
    answered = delivery.tally.answered
    // `answered` records the answer, so nothing else needs to be stored.
    if answered == 0 || !delivery.tally.isSimple(true) { unsafe keep(delivery, &known) }
  }

  /// Records that a target threw.
  @usableFromInline @unsafe
  @inline(never)
  static func fail(
    _ error: any Error, at place: UnsafePointer<UnsafeRawPointer>,
    _ known: inout UnsafeMutablePointer<FaceDelivery>?, _ targets: FaceTargets,
    _ proxy: AnyObject
  ) {
    var delivery = unsafe take(&known) ?? FaceDelivery(targets, proxy)
    delivery.tally.fail(error, at: unsafe member(at: place))
    unsafe keep(delivery, &known)
  }

  /// Whether a target threw.
  @usableFromInline @unsafe
  @inline(never)
  static func hasFailed(_ known: UnsafeMutablePointer<FaceDelivery>?) -> Bool {
    unsafe known?.pointee.tally.error != nil
  }

  /// Moves the state of a delivery out of its memory. Most deliveries only call targets, and
  /// allocate none.
  @unsafe
  private static func take(_ known: inout UnsafeMutablePointer<FaceDelivery>?) -> FaceDelivery? {
    guard let memory = unsafe known else { return nil }
    unsafe known = nil
    defer { unsafe memory.deallocate() }
    return unsafe memory.move()
  }

  @unsafe
  private static func keep(
    _ delivery: FaceDelivery, _ known: inout UnsafeMutablePointer<FaceDelivery>?
  ) {
    unsafe known = .allocate(capacity: 1)
    unsafe known?.initialize(to: delivery)
  }

  /// Records that the class of a target left out an optional requirement.
  @usableFromInline @unsafe
  @inline(never)
  static func noteLeftOut(_ selector: Selector, at place: UnsafePointer<UnsafeRawPointer>) {
    OptionalRequirement.note(leftOut: selector, by: unsafe member(at: place).type)
  }

  /// Sends the message to the proxy.
  @usableFromInline
  @inline(never)
  mutating func conclude<Result>(
    _ send: (inout FaceDelivery) throws -> Result
  ) -> FaceAnswer<Result> {
    do {
      return .answered(try send(&self))
    } catch {
      return UnansweredMessages.take(message, error) ? .unanswered(error) : .failed(error)
    }
  }

  /// Ends the round, and decides the outcome for the sender.
  @usableFromInline @unsafe
  @inline(never)
  static func conclude<Result>(
    _ result: Result?, _ answered: Int, _ isOnQueue: Bool,
    _ known: UnsafeMutablePointer<FaceDelivery>?,
    _ round: FWDDirectRound, _ bits: UInt64, _ targets: FaceTargets, _ proxy: AnyObject,
    _ selector: Selector, _ send: (inout FaceDelivery) throws -> Result
  ) -> FaceAnswer<Result> {
    let message = unsafe round.thread.map { unsafe fwd_direct_number($0, bits) }
    unsafe fwd_direct_end(round)
    var known = unsafe known
    var delivery = unsafe take(&known) ?? FaceDelivery(targets, proxy)
    if isOnQueue { delivery.tally.hasQueued = true }
    let hasQueued = delivery.tally.hasQueued
    delivery.message = message ?? bits
    delivery.tally.answered = answered
    targets.owner?.proxy.tidy(delivery.tally, of: selector)
    if let error = delivery.tally.error { return .failed(error) }
    if let result, answered > 0 || hasQueued && bits == 0 && Result.self == Void.self {
      return .answered(result)
    }
    delivery.destination = .end
    return delivery.conclude(send)
  }
}
