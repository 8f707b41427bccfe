// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// The turns of an awaited delivery: the targets of a proxy one after the other, each after the
/// previous one has ended.
@safe
@usableFromInline
package struct AwaitedTurns: ~Copyable {
  // SAFETY: a local variable of a proxy's method. The proxy retains the untyped one, which retains the
  // list.

  /// What an awaited requirement wants of its delivery.
  @usableFromInline
  package struct Wishes {
    @usableFromInline let isOptional: Bool
    @usableFromInline let hasResult: Bool
    /// Whether the answers of all targets count, whatever the rule of the list is.
    @usableFromInline let asksAll: Bool
    /// Whether cancelling the task ends the delivery, because the sender can throw the error.
    @usableFromInline let endsWithTask: Bool
    /// Whether the proxy answers where no target does.
    @usableFromInline let hasOtherwise: Bool

    @inlinable
    package init(
      isOptional: Bool, hasResult: Bool, asksAll: Bool, endsWithTask: Bool, hasOtherwise: Bool
    ) {
      self.isOptional = isOptional
      self.hasResult = hasResult
      self.asksAll = asksAll
      self.endsWithTask = endsWithTask
      self.hasOtherwise = hasOtherwise
    }
  }

  private let untyped: Unmanaged<AnyObject>
  private let owner: Unmanaged<ProxyOwner>?
  /// The list of targets; nil if all messages go to the proxy.
  private let object: UnsafeRawPointer?
  private let proxy: UnsafeRawPointer
  /// The index of the protocol's table in a target's record.
  private let place: Int
  private let selector: Selector
  private let wishes: Wishes

  /// Whether the delivery has begun.
  private var hasBegun = false
  /// Whether it is the turn of the proxy.
  private var isOfProxy = false
  /// The walk over the targets, between the first turn and the last.
  private var walk: AwaitedWalk?
  private var step: AwaitedStep?
  /// The position of the target of the current turn.
  private var member: MemberPlace?
  /// The target, if the proxy calls it.
  @usableFromInline var target = unsafe FWDDirectTarget()
  /// The number of the delivery's message; 0 before one is needed.
  private var message: UInt64 = 0
  private var tally = TargetList.Tally()
  /// What the proxy did, or why the delivery did not begin.
  private var outcome: Verdict?
  /// Whether no target of the proxy answered the message.
  private var isUnanswered = false
  /// The target of the last answer.
  private var last: MemberPlace?

  /// Initializes a delivery, which begins with the first turn.
  @usableFromInline
  package init(
    _ selector: Selector, _ wishes: Wishes, to targets: borrowing ProxyTargets,
    of untyped: AnyObject, _ place: Int
  ) {
    unsafe self.untyped = .passUnretained(untyped)
    unsafe owner = targets.owner.map { unsafe .passUnretained($0) }
    unsafe proxy = targets.proxy
    self.place = place
    self.selector = selector
    self.wishes = wishes
    unsafe object = targets.list
  }

  private var list: UnsafeMutablePointer<FWDOwnedList>? {
    unsafe object.map { unsafe fwd_owned_list_of($0) }
  }

  /// Begins the walk, and moves the task into a step. Returns false if the delivery cannot begin.
  ///
  /// Not in `init`, because a task frees memory in reverse order, and a step's value is such
  /// memory. So no memory that is older than the step may be freed before the step ends.
  private mutating func enter() -> Bool {
    hasBegun = true
    guard let list = unsafe list, let object = unsafe object else {
      isOfProxy = true
      return true
    }
    var ends = unsafe DeliveryEnds(list, hasResult: wishes.hasResult)
    if wishes.asksAll { ends.areAnswers = false }
    walk = unsafe AwaitedWalk(list, ends, endsWithTask: wishes.endsWithTask) { [owner] in
      unsafe owner?._withUnsafeGuaranteedRef { $0.untyped.publishTargets() }
    }
    step = AwaitedStep.enter(through: unsafe unsafeBitCast(object, to: ObjectIdentifier.self))
    if walk != nil, step != nil { return true }
    outcome = .failed(
      step == nil
        ? InvocationError.forwardedTooDeeply(selector, limit: ForwardingDepth.limit)
        : InvocationError.outOfMemory)
    return false
  }

  /// Moves the task out of the step, and releases the list.
  private mutating func leave() {
    step?.leave()
    step = nil
    walk = nil
  }

  /// Begins the next turn. Returns false, and ends the delivery, if no turn is left.
  @usableFromInline
  package mutating func begin() -> Bool {
    unsafe target = FWDDirectTarget()
    let isFirst = !hasBegun
    let begins = (!isFirst || enter()) && (isOfProxy ? isFirst : beginTarget())
    if begins {
      if unsafe target.object == nil { number() }
    } else {
      unsafe member = nil
      leave()
    }
    return begins
  }

  private mutating func beginTarget() -> Bool {
    guard let member = unsafe walk?.nextPlace(&tally) else { return false }
    unsafe self.member = member
    unsafe target = fwd_direct_take(member, proxy, place)
    return true
  }

  /// Moves out the target of the current turn, once; nil if a message is sent instead.
  @inlinable
  package mutating func take<Target>(as type: Target.Type) -> Target? {
    unsafe target.object.map { unsafe ProxyDelivery.value(of: target, $0) }
  }

  /// Gives the delivery the number of a message.
  private mutating func number() {
    if message != 0 { return }
    message = fwd_next_message()
    step?.standsFor(message)
  }

  /// Ends a turn that did not throw. Returns whether its answer counts.
  ///
  /// - Parameter isAnswer: false if no target got the message.
  @usableFromInline
  package mutating func end(isAnswer: Bool) -> Bool {
    if isOfProxy {
      outcome = isAnswer ? .answered : .unanswered(nil)
      return isAnswer
    }
    // The answers to a message are already counted.
    guard let object = unsafe target.object else { return isAnswer }
    if unsafe isLeftOut(by: object) { return false }
    tally.answered += 1
    return true
  }

  /// Notes that the answer of this turn counts.
  @usableFromInline
  package mutating func noteAnswer() { unsafe last = member }

  /// Tells that the last answer is overruled, if anyone listens.
  @usableFromInline
  @inline(never)
  package func overrule<Result>(_ old: Result, by new: Result) {
    guard wishes.hasResult, let list = unsafe list, let owner = unsafe owner,
      unsafe fwd_list_rules(list) & UInt32(FWD_LIST_TELLS) != 0
    else { return }
    unsafe ProxyDelivery.overrule(old, by: new, at: last, selector, owner.takeUnretainedValue())
  }

  /// Whether a target left out the requirement. If so, records that.
  private func isLeftOut(by object: UnsafeMutableRawPointer) -> Bool {
    guard wishes.isOptional,
      step?.takeLeftOut(unsafe unsafeBitCast(object, to: ObjectIdentifier.self), selector) ?? false
    else {
      return false
    }
    if let member = unsafe member { unsafe ProxyDelivery.noteLeftOut(selector, at: member) }
    return true
  }

  /// Ends a turn that threw.
  @usableFromInline
  @inline(never)
  package mutating func fail(_ error: any Error) {
    if isOfProxy {
      outcome =
        isUnanswered || UnansweredMessages.isLeftOut(error) ? .unanswered(error) : .failed(error)
    } else if let object = unsafe target.object, let member = unsafe member {
      // A default implementation without a value to return throws.
      if unsafe !isLeftOut(by: object) {
        tally.fail(error, at: unsafe Invocations.member(at: member))
      }
    } else {
      tally.fail(error)
    }
  }

  /// Decides what the sender gets. An answer is that of the last turn that ended with one.
  @usableFromInline
  package func conclude() -> Verdict {
    if let outcome { return outcome }
    return unsafe owner?._withUnsafeGuaranteedRef {
      $0.untyped.verdict(
        selector, tally, returnsValue: wishes.hasResult, hasOtherwise: wishes.hasOtherwise)
    } ?? .unanswered(nil)
  }

  /// The proxy.
  package var receiver: AnyObject { unsafe untyped.takeUnretainedValue() }

  // MARK: Messages

  /// Sends the message whose arguments are set, and awaits the answer. Returns whether the
  /// invocation has an answer.
  package nonisolated(nonsending) mutating func sendAwaiting(
    _ invocation: Invocation
  ) async throws -> Bool {
    let call = invocation.call
    unsafe call.state.pointee.message = message
    unsafe call.state.pointee.has_otherwise = wishes.hasOtherwise ? 1 : 0
    unsafe call.state.pointee.is_uncancelled = wishes.endsWithTask ? 0 : 1
    guard let place = unsafe member else {
      do {
        try await invocation.sendAwaiting(to: receiver)
      } catch {
        isUnanswered = UnansweredMessages.take(call, error)
        throw error
      }
      return true
    }
    guard let owner = unsafe owner else { return false }
    let before = tally.answered
    await unsafe owner.takeUnretainedValue().untyped.deliverAwaiting(
      invocation, to: Invocations.member(at: place), &tally)
    return tally.answered > before
  }

  /// Runs the current turn for a requirement that cannot be a message.
  package mutating func refuse<Result>(
    _ body: (inout ProxyDelivery) throws -> Result
  ) rethrows -> Result {
    var delivery = ProxyDelivery(to: receiver)
    delivery.tally = tally
    unsafe delivery.place = member
    defer { tally = delivery.tally }
    return try body(&delivery)
  }
}
