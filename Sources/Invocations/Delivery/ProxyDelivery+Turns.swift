// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

// The parts of a delivery that do more than call targets.
extension ProxyDelivery {
  /// The outcome of a turn, with the answer.
  @usableFromInline
  enum Turn<Result> {
    case answered(Result)
    /// The call was sent to a lane.
    case queued
    /// The target did not answer, or has failed.
    case over
  }

  /// The turn of a target that is not called directly.
  @inlinable @unsafe
  @inline(never)
  static func turnElsewhere<Target, Result, Failure: Error>(
    _ call: ProxyTurn, _ rest: inout UnsafeMutablePointer<ProxyDelivery>?,
    _ selector: () -> Selector,
    _ direct: (borrowing ProxyTarget<Target>) throws(Failure) -> Result,
    _ later: (inout QueuedCall) -> Void,
    _ send: (inout ProxyDelivery) throws -> Result?
  ) -> Turn<Result> {
    var result: Result?
    let turn = unsafe turnInLane(call, selector(), later) { words in
      // SAFETY: a value of a protocol for objects is the object and the table.
      result = try unsafe direct(words.assumingMemoryBound(to: ProxyTarget<Target>.self).pointee)
    }
    switch turn {
    // Of a call on another thread there is no result but nothing.
    case .answered: return (result ?? () as? Result).map { .answered($0) } ?? .over
    case .queued: return .queued
    case .over: return .over
    case .failed(let error):
      unsafe fail(error, in: call, &rest)
      return .over
    case .message: return unsafe sendAlone(call, &rest, send)
    }
  }

  /// Sends the message to a proxy that has no list of targets.
  @usableFromInline
  @inline(never)
  package static func sendWholly<Result>(
    to untyped: AnyObject, hasOtherwise: Bool, _ send: (inout ProxyDelivery) throws -> Result?
  ) -> ProxyAnswer<Result> {
    var delivery = ProxyDelivery(to: untyped)
    delivery.message = fwd_next_message()
    delivery.hasOtherwise = hasOtherwise
    do {
      guard let answer = try send(&delivery) else { return .unanswered(nil) }
      return .answered(answer)
    } catch {
      return delivery.isUnanswered || UnansweredMessages.isLeftOut(error)
        ? .unanswered(error) : .failed(error, nil)
    }
  }

  /// Begins a delivery to a list that is not published yet. Returns a round without a list if the
  /// thread cannot enter another step.
  @usableFromInline @unsafe
  @inline(never)
  static func begin(
    _ targets: ProxyTargets, _ list: UnsafeRawPointer
  ) -> FWDDirectRound {
    let place = unsafe fwd_list_place(fwd_owned_list_of(list))
    repeat {
      // Another thread may withdraw the list at once.
      targets.owner?.untyped.publishTargets()
      let round = unsafe fwd_direct_begin_carefully(place, list)
      if unsafe round.list != nil { return unsafe round }
    } while ForwardingDepth.canEnter
    return unsafe FWDDirectRound()
  }

  /// The error of a delivery that cannot begin.
  @usableFromInline
  @inline(never)
  static func refusal(_ selector: Selector) -> any Error {
    ForwardingDepth.refusal(selector)
  }

  /// Sends a message to a target that the proxy does not call.
  @usableFromInline @unsafe
  @inline(never)
  static func sendAlone<Result>(
    _ call: ProxyTurn, _ known: inout UnsafeMutablePointer<ProxyDelivery>?,
    _ send: (inout ProxyDelivery) throws -> Result?
  ) -> Turn<Result> {
    var delivery = unsafe take(&known) ?? ProxyDelivery(to: call.targets)
    if let thread = unsafe call.thread { delivery.message = unsafe fwd_direct_number(thread) }
    delivery.hasOtherwise = call.hasOtherwise
    unsafe delivery.place = call.member
    delivery.tally.hasQueued = false
    var answer: Result?
    do {
      answer = try send(&delivery)
    } catch {
      delivery.tally.fail(error)
    }
    let hasQueued = delivery.tally.hasQueued
    if delivery.tally.error != nil || delivery.tally.metDead { unsafe keep(delivery, &known) }
    if let answer { return .answered(answer) }
    return hasQueued ? .queued : .over
  }

  /// Notes that a target threw.
  @usableFromInline @unsafe
  @inline(never)
  static func fail(
    _ error: any Error, in call: ProxyTurn, _ known: inout UnsafeMutablePointer<ProxyDelivery>?
  ) {
    var delivery = unsafe take(&known) ?? ProxyDelivery(to: call.targets)
    delivery.tally.fail(error, at: unsafe member(at: call.member))
    unsafe keep(delivery, &known)
  }

  /// Whether a target threw, and the first error ends a delivery.
  @usableFromInline @unsafe
  @inline(never)
  static func endsAtError(
    _ known: UnsafeMutablePointer<ProxyDelivery>?, _ list: UnsafeMutablePointer<FWDOwnedList>
  ) -> Bool {
    guard unsafe fwd_list_rules(list) & UInt32(FWD_LIST_FIRST_ERROR) != 0 else { return false }
    return unsafe known?.pointee.tally.error != nil
  }

  /// Moves the state of a delivery out of its memory.
  @unsafe
  private static func take(_ known: inout UnsafeMutablePointer<ProxyDelivery>?) -> ProxyDelivery? {
    guard let memory = unsafe known else { return nil }
    unsafe known = nil
    defer { unsafe memory.deallocate() }
    return unsafe memory.move()
  }

  @unsafe
  private static func keep(
    _ delivery: ProxyDelivery, _ known: inout UnsafeMutablePointer<ProxyDelivery>?
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

  /// Tells that an answer is overruled by that of a later target, if it is another one.
  @usableFromInline @unsafe
  @inline(never)
  static func overrule<Result>(
    _ old: Result, by new: Result, at place: UnsafePointer<UnsafeRawPointer>?,
    _ selector: Selector, _ owner: ProxyOwner?
  ) {
    func isEqual<Value: Equatable>(_ old: Value) -> Bool { old == new as? Value }
    if let old = old as? any Equatable, isEqual(old) { return }
    if let place = unsafe place {
      owner?.untyped.overrule(unsafe member(at: place), selector)
    }
  }

  /// Decides what the sender gets.
  ///
  /// - Parameter result: the answer that counts; nil if no target has answered.
  @usableFromInline @unsafe
  @inline(never)
  static func conclude<Result>(
    _ result: Result?, _ hasQueued: Bool, hasOtherwise: Bool,
    _ known: UnsafeMutablePointer<ProxyDelivery>?, _ targets: ProxyTargets, _ selector: Selector
  ) -> ProxyAnswer<Result> {
    var known = unsafe known
    var tally = unsafe take(&known)?.tally ?? TargetList.Tally()
    tally.answered = result == nil ? 0 : 1
    tally.hasQueued = hasQueued
    guard let owner = targets.owner?.untyped else { return .unanswered(nil) }
    switch owner.verdict(
      selector, tally, returnsValue: Result.self != Void.self, hasOtherwise: hasOtherwise)
    {
    case .answered:
      guard let answer = result ?? (() as? Result) else { return .unanswered(nil) }
      return .answered(answer)
    case .unanswered(let error): return .unanswered(error)
    case .failed(let error): return .failed(error, result)
    }
  }
}
