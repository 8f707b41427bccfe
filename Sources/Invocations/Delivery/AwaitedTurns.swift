// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// The turns of an awaited delivery: the targets of a proxy one after the other, each after the
/// previous one has ended.
@safe
@usableFromInline
package struct AwaitedTurns: ~Copyable {
  // SAFETY: a local variable of a proxy's method. The proxy retains the untyped one, which retains the
  // list.

  @usableFromInline let targets: ProxyTargets
  @usableFromInline let selector: Selector
  /// Where the tables of a target have that of the protocol.
  private let tablePlace: Int
  private let facts: ProxyFacts

  /// Whether the delivery has begun.
  private var hasBegun = false
  /// The walk over the targets, between the first turn and the last.
  private var walk: AwaitedWalk?
  private var step: AwaitedStep?
  /// The message of the current turn, to a target or to the proxy, with the outcome of the turns before.
  @usableFromInline package var message: ProxyDelivery
  /// The target, if the proxy calls it.
  @usableFromInline var target = unsafe FWDDirectTarget()
  /// What the proxy did, or why the delivery did not begin.
  private var outcome: Verdict?

  /// Initializes a delivery, which begins with the first turn.
  @usableFromInline
  package init(
    _ selector: Selector, _ facts: ProxyFacts, at tablePlace: Int, to targets: ProxyTargets,
    of untyped: AnyObject
  ) {
    self.tablePlace = tablePlace
    self.targets = targets
    self.selector = selector
    self.facts = facts
    message = ProxyDelivery(to: targets.areListed ? nil : untyped, targets, facts)
  }

  /// Begins the walk, and moves the task into a step. Returns false if the delivery cannot begin.
  ///
  /// Not in `init`, because a task frees memory in reverse order, and a step's value is such
  /// memory. So no memory that is older than the step may be freed before the step ends.
  private mutating func enter() -> Bool {
    hasBegun = true
    guard let list = unsafe targets.list else { return true }
    unsafe list._withUnsafeGuaranteedRef { list in
      let ends = list.ends(hasResult: facts.mayEndAtFirst)
      // Cancelling the task ends the delivery if the sender can throw the error.
      walk = AwaitedWalk(list, ends, endsWithTask: facts.canThrowAny)
    }
    step = AwaitedStep.enter(through: unsafe unsafeBitCast(list, to: ObjectIdentifier.self))
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
    let begins = (!isFirst || enter()) && (targets.areListed ? beginTarget() : isFirst)
    if begins {
      if unsafe target.object == nil { number() }
    } else {
      unsafe message.place = nil
      leave()
    }
    return begins
  }

  private mutating func beginTarget() -> Bool {
    guard let place = unsafe walk?.nextPlace(&message.tally) else { return false }
    unsafe message.place = place
    unsafe target = fwd_direct_take(place, targets.proxy, tablePlace)
    return true
  }

  /// Moves out the target of the current turn, once; nil if a message is sent instead.
  @inlinable
  package mutating func take<Target>(as type: Target.Type) -> Target? {
    unsafe target.object.map { unsafe DirectValue.make(of: target, $0) }
  }

  /// Gives the delivery the number of a message.
  private mutating func number() {
    if message.message != 0 { return }
    message.message = fwd_next_message()
    step?.standsFor(message.message)
  }

  /// Ends a turn that did not throw, with an answer if a target got the message.
  @inlinable
  package mutating func end<Result>(
    _ answer: Result?, _ site: ProxySite<Result>, _ answers: inout ProxyAnswers<Result>
  ) {
    if endCounting(isAnswer: answer != nil), let answer {
      unsafe answers.add(answer, of: message.place, site, targets) { selector }
    }
  }

  /// Ends such a turn. Returns whether its answer counts.
  @usableFromInline
  mutating func endCounting(isAnswer: Bool) -> Bool {
    if !targets.areListed {
      outcome = isAnswer ? .answered : .unanswered(nil)
      return isAnswer
    }
    // The answers to a message are already counted.
    guard let object = unsafe target.object else { return isAnswer }
    if unsafe isLeftOut(by: object) { return false }
    message.tally.answered += 1
    return true
  }

  /// Whether a target left out the requirement. If so, records that.
  private func isLeftOut(by object: UnsafeMutableRawPointer) -> Bool {
    guard facts.isOptional,
      step?.takeLeftOut(unsafe unsafeBitCast(object, to: ObjectIdentifier.self), selector) ?? false
    else {
      return false
    }
    if let place = unsafe message.place { unsafe ProxyDelivery.noteLeftOut(selector, at: place) }
    return true
  }

  /// Ends a turn that threw.
  @usableFromInline
  @inline(never)
  package mutating func fail(_ error: any Error) {
    if !targets.areListed {
      outcome = message.verdict(of: error)
    } else if let object = unsafe target.object, let place = unsafe message.place {
      // A default implementation without a value to return throws.
      if unsafe !isLeftOut(by: object) { message.tally.fail(error, at: unsafe member(at: place)) }
    } else {
      message.tally.fail(error)
    }
  }

  /// Decides what the sender gets. An answer is that of the last turn that ended with one.
  @usableFromInline
  package func conclude() -> Verdict {
    outcome ?? targets.verdict(selector, message.tally, facts)
  }
}
