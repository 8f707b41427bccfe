public import CForwardingShims

/// The outcome of a face's message.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// let answer = FaceAnswer.answered(5)
/// if case .answered(let number) = answer { print(number) }  // 5
/// ```
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
    // What the number of a message says of it.
    let bits = hasOtherwise ? FWD_OTHERWISE_MESSAGE_BIT : 0
    var round = unsafe FWDDirectRound()
    guard let list = unsafe targets.list,
      unsafe fwd_direct_begin(&round, fwd_list_place(fwd_owned_list_of(list)), list) != 0
        || beginAgain(&round, targets)
    else {
      var delivery = unsafe FaceDelivery(targets, proxy)
      delivery.message = bits
      return delivery.conclude(send)
    }
    var result: Result?
    var answered = 0
    var hasQueued = false
    // Allocated only if a delivery does more than call targets.
    var delivery: UnsafeMutablePointer<FaceDelivery>?
    let stopsAtFirst =
      unsafe fwd_list_stops_at_first(
        fwd_owned_list_of(list), Result.self == Void.self ? 0 : 1) != 0
    while let member = unsafe fwd_direct_next(&round) {
      let taken = unsafe fwd_direct_take(member, targets.face, place)
      if let object = unsafe taken.object {
        if isOptional { unsafe fwd_forget_left_out(round.thread) }
        do throws(Failure) {
          let answer = try unsafe withUnsafeBytes(
            of: (object, taken.table)
          ) { words throws(Failure) in
            // SAFETY: a value of a protocol for objects is the object and the table.
            try direct(
              unsafe words.baseAddress.unsafelyUnwrapped.assumingMemoryBound(
                to: FaceTarget<Target>.self
              ).pointee)
          }
          if isOptional,
            unsafe fwd_is_left_out(round.thread, object, UInt64(selector().word)) != 0
          {
            unsafe noteLeftOut(selector(), at: member)
          } else {
            result = answer
            answered += 1
          }
        } catch {
          if isOptional,
            unsafe fwd_is_left_out(round.thread, object, UInt64(selector().word)) != 0
          {
            unsafe noteLeftOut(selector(), at: member)
          } else {
            unsafe fail(error, at: member, &delivery, targets, proxy)
          }
        }
        unsafe fwd_direct_give_back(taken)
      } else {
        var answer: Result?
        let turn = unsafe callOnQueue(
          at: member, place, selector, isOptional: isOptional, &delivery, targets, proxy, later
        ) { words in
          // SAFETY: a value of a protocol for objects is the object and the table.
          answer = try unsafe direct(
            words.assumingMemoryBound(to: FaceTarget<Target>.self).pointee)
        }
        switch turn {
        case .answered:
          result = answer
          answered += 1
        case .queued: hasQueued = true
        case .over: break
        case .message:
          unsafe sendAlone(
            to: member, &delivery, &result, &answered, &round, bits, targets, proxy, send)
        }
      }
      if stopsAtFirst, answered > 0 { break }
    }
    unsafe fwd_direct_end(&round)
    if unsafe delivery == nil {
      if answered > 0, let result { return .answered(result) }
      // A queued target has not answered yet, which is enough unless the sender gets an error then.
      if hasQueued, !hasOtherwise, let nothing = () as? Result { return .answered(nothing) }
    }
    let message = unsafe round.message
    return unsafe conclude(
      result, answered, hasQueued, delivery, message, bits, targets, proxy, selector(), send)
  }

  /// Publishes the list of targets, and begins again.
  @usableFromInline @unsafe
  @inline(never)
  static func beginAgain(_ round: inout FWDDirectRound, _ targets: FaceTargets) -> Bool {
    guard let list = unsafe targets.list else { return false }
    targets.owner?.proxy.publishTargets()
    return unsafe fwd_direct_begin(&round, fwd_list_place(fwd_owned_list_of(list)), list) != 0
  }

  /// Sends a message to a target that the face does not call.
  @usableFromInline @unsafe
  @inline(never)
  static func sendAlone<Result>(
    to place: UnsafePointer<UnsafeRawPointer>,
    _ known: inout UnsafeMutablePointer<FaceDelivery>?, _ result: inout Result?,
    _ answered: inout Int, _ round: inout FWDDirectRound, _ bits: UInt64,
    _ targets: FaceTargets, _ proxy: AnyObject, _ send: (inout FaceDelivery) throws -> Result
  ) {
    var delivery = unsafe take(&known) ?? FaceDelivery(targets, proxy)
    delivery.message = unsafe fwd_direct_number(&round, bits)
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

  /// Calls a target on its queue, synchronously or later.
  @usableFromInline @unsafe
  @inline(never)
  static func callOnQueue(
    at place: UnsafePointer<UnsafeRawPointer>, _ index: Int, _ selector: () -> Selector,
    isOptional: Bool, _ known: inout UnsafeMutablePointer<FaceDelivery>?, _ targets: FaceTargets,
    _ proxy: AnyObject, _ later: (inout QueuedCall) -> Void,
    _ call: (UnsafeRawPointer) throws -> Void
  ) -> QueueTurn {
    guard let lane = unsafe FaceLane(place, targets, index) else { return .message }
    let selector = selector()
    guard lane.waits else {
      return lane.isGiven(later, selector, isOptional: isOptional) ? .queued : .message
    }
    do {
      if try unsafe lane.callWaiting(isOptional ? selector : nil, call) { return .answered }
      unsafe noteLeftOut(selector, at: place)
    } catch {
      unsafe fail(error, at: place, &known, targets, proxy)
    }
    return .over
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

  /// Decides the outcome for the sender.
  @usableFromInline @unsafe
  @inline(never)
  static func conclude<Result>(
    _ result: Result?, _ answered: Int, _ isOnQueue: Bool,
    _ known: UnsafeMutablePointer<FaceDelivery>?,
    _ message: UInt64, _ bits: UInt64, _ targets: FaceTargets, _ proxy: AnyObject,
    _ selector: Selector, _ send: (inout FaceDelivery) throws -> Result
  ) -> FaceAnswer<Result> {
    var known = unsafe known
    var delivery = unsafe take(&known) ?? FaceDelivery(targets, proxy)
    if isOnQueue { delivery.tally.hasQueued = true }
    let hasQueued = delivery.tally.hasQueued
    delivery.message = message == 0 ? fwd_next_face_message() | bits : message
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
