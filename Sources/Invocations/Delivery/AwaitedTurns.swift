// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The turns of an awaited delivery: the targets of a face one after the other, each after the
/// previous one has ended.
@safe
@usableFromInline
package struct AwaitedTurns: ~Copyable {
  // SAFETY: a local variable of a face's method. The face retains the proxy, which retains the
  // list.

  /// The kind of a turn.
  private enum Turn {
    /// The proxy's, if the face calls no targets.
    case proxy
    /// The next target's.
    case target
    /// The proxy's, after all targets had their turn and none answered.
    case end
    /// No turn: the delivery is over.
    case over
  }

  private let proxy: Unmanaged<AnyObject>
  private let owner: Unmanaged<FaceOwner>?
  /// The list of targets.
  private let object: UnsafeRawPointer?
  private let face: UnsafeRawPointer
  private let place: Int
  private let selector: Selector
  private let isOptional: Bool
  private let hasResult: Bool
  /// Whether cancelling the task ends the delivery, because the sender can throw the error.
  private let endsWithTask: Bool
  /// Whether the face answers where no target does.
  private let hasOtherwise: Bool

  /// The next turn; nil before the delivery begins.
  private var next: Turn?
  private var current = Turn.over
  /// The list, while the delivery retains it.
  private var kept: UnsafePointer<FWDTargetList>?
  private var turn = unsafe FWDDirectTurn()
  private var step: AwaitedStep?
  /// The position of the target of the current turn.
  private var member: MemberPlace?
  /// The target, if the face calls it.
  @usableFromInline var target: AwaitedTarget?
  /// The number of the delivery's message; 0 before one is needed.
  private var message: UInt64 = 0
  private var tally = TargetList.Tally()
  private var answer: FaceAnswer<Void>?

  /// Initializes a delivery, which begins with the first turn.
  ///
  /// - Parameters:
  ///   - endsWithTask: whether cancelling the task ends the delivery.
  ///   - place: the index of the protocol's table in a target's record.
  @usableFromInline
  package init(
    _ selector: Selector, isOptional: Bool, hasResult: Bool, endsWithTask: Bool,
    hasOtherwise: Bool, to targets: borrowing FaceTargets,
    of proxy: AnyObject, _ place: Int
  ) {
    unsafe self.proxy = .passUnretained(proxy)
    unsafe owner = targets.owner.map { unsafe .passUnretained($0) }
    unsafe face = targets.face
    self.place = place
    self.selector = selector
    self.isOptional = isOptional
    self.hasResult = hasResult
    self.endsWithTask = endsWithTask
    self.hasOtherwise = hasOtherwise
    unsafe object = targets.list
  }

  private var list: UnsafeMutablePointer<FWDOwnedList>? {
    unsafe object.map { unsafe fwd_owned_list_of($0) }
  }

  /// Retains the list, and moves the task into a step.
  ///
  /// Not in `init`, because a task frees memory in reverse order, and a step's value is such
  /// memory. So no memory that is older than the step may be freed before the step ends.
  private mutating func enter() {
    next = .proxy
    guard let list = unsafe list, let object = unsafe object else { return }
    unsafe kept = fwd_awaited_begin(list)
    if unsafe kept == nil {
      unsafe owner?._withUnsafeGuaranteedRef { $0.proxy.publishTargets() }
      unsafe kept = fwd_awaited_begin(list)
      if unsafe kept == nil { return }
    }
    step = AwaitedStep.enter(through: unsafe unsafeBitCast(object, to: ObjectIdentifier.self))
    if step != nil {
      next = .target
    } else {
      next = .over
      answer = .failed(
        InvocationError.forwardedTooDeeply(selector, limit: ForwardingDepth.limit))
    }
  }

  /// Moves the task out of the step, and releases the list.
  private mutating func leave() {
    step?.leave()
    step = nil
    if let kept = unsafe kept, let list = unsafe list { unsafe fwd_awaited_end(kept, list) }
    unsafe kept = nil
  }

  /// Begins the next turn. Returns false, and ends the delivery, if no turn is left.
  @usableFromInline
  package mutating func begin() -> Bool {
    if case .none = next { enter() }
    target = nil
    current = next ?? .over
    let begins =
      switch current {
      case .proxy: beginProxy()
      case .target: beginTarget() || beginEnd()
      case .end, .over: false
      }
    if !begins { leave() }
    return begins
  }

  private mutating func beginProxy() -> Bool {
    next = .over
    number()
    return true
  }

  private mutating func beginTarget() -> Bool {
    guard let list = unsafe list, let kept = unsafe kept else { return false }
    if tally.answered > 0, unsafe fwd_list_stops_at_first(list, hasResult ? 1 : 0) != 0 {
      return false
    }
    if tally.error != nil, unsafe fwd_list_rules(list) & UInt32(FWD_LIST_FIRST_ERROR) != 0 {
      return false
    }
    unsafe turn = fwd_direct_turn(kept, turn)
    guard let member = unsafe turn.member else { return false }
    unsafe turn.member = member + 1
    // A list of one asks its target even if the task was cancelled.
    if endsWithTask, Task.isCancelled, unsafe fwd_list_rules(list) & UInt32(FWD_LIST_OF_ONE) == 0 {
      tally.fail(CancellationError())
      return false
    }
    unsafe self.member = member
    unsafe target = AwaitedTarget(fwd_direct_take(member, face, place))
    if target == nil { number() }
    return true
  }

  /// Decides the outcome for the sender. Returns true if the proxy must be asked.
  private mutating func beginEnd() -> Bool {
    next = .over
    current = .over
    if !tally.isSimple(hasResult) {
      unsafe owner?._withUnsafeGuaranteedRef { $0.proxy.tidy(tally, of: selector) }
    }
    if let error = tally.error {
      answer = .failed(error)
      return false
    }
    if tally.answered > 0 || tally.hasQueued && !hasResult && !hasOtherwise {
      answer = .answered(())
      return false
    }
    current = .end
    number()
    return true
  }

  /// Assigns a message number to the delivery.
  private mutating func number() {
    if message != 0 { return }
    message = fwd_next_face_message() | (endsWithTask ? 0 : FWD_UNCANCELLED_MESSAGE_BIT)
    if hasOtherwise { message |= FWD_OTHERWISE_MESSAGE_BIT }
    step?.standsFor(message)
  }

  /// Ends a turn that did not throw. Returns false if the target leaves the requirement out.
  @usableFromInline
  package mutating func end() -> Bool {
    guard case .target = current else {
      answer = .answered(())
      return true
    }
    // The answers to a message are already counted.
    guard let target else { return true }
    if isLeftOut(by: target) { return false }
    tally.answered += 1
    return true
  }

  /// Whether a target left out the requirement. If so, records that.
  private func isLeftOut(by target: AwaitedTarget) -> Bool {
    guard isOptional, step?.takeLeftOut(target.identity, selector) ?? false else { return false }
    if let member = unsafe member { unsafe FaceDelivery.noteLeftOut(selector, at: member) }
    return true
  }

  /// Ends a turn that threw.
  @usableFromInline
  @inline(never)
  package mutating func fail(_ error: any Error) {
    guard case .target = current, let member = unsafe member else {
      answer =
        UnansweredMessages.take(message, error) ? .unanswered(error) : .failed(error)
      return
    }
    if let target {
      // A default implementation without a value to return throws.
      if !isLeftOut(by: target) { tally.fail(error, at: unsafe Invocations.member(at: member)) }
    } else if !(error is FaceDelivery.NotAnswered) {
      // A target that has not answered has not failed either.
      tally.fail(error)
    }
  }

  /// The outcome for the sender. An answer is that of the last turn that ended with one.
  @usableFromInline
  package func conclude() -> FaceAnswer<Void> { answer ?? .unanswered(NotImplemented()) }

  /// The proxy.
  package var receiver: AnyObject { unsafe proxy.takeUnretainedValue() }

  // MARK: Messages

  /// Sends the message whose arguments are set, and awaits the answer. On return, the invocation
  /// has the result.
  package nonisolated(nonsending) mutating func sendAwaiting(_ invocation: Invocation) async throws
  {
    unsafe invocation.call.state.pointee.message = message
    switch current {
    case .proxy: try await invocation.sendAwaiting(to: receiver)
    case .target:
      guard let place = unsafe member, let owner = unsafe owner else { return }
      let before = tally.answered
      await unsafe owner.takeUnretainedValue().proxy.deliverAwaiting(
        invocation, to: Invocations.member(at: place), &tally)
      if tally.answered == before, invocation.returnsValue { throw FaceDelivery.NotAnswered.error }
    case .end:
      try await unsafe owner?.takeUnretainedValue().proxy.answerAwaiting(invocation, for: tally)
    case .over: break
    }
  }

  /// Runs the current turn for a requirement that cannot be a message.
  package mutating func refuse<Result>(
    _ body: (inout FaceDelivery) throws -> Result
  ) rethrows -> Result {
    var delivery = FaceDelivery(to: receiver)
    delivery.tally = tally
    delivery.message = message
    switch current {
    case .proxy: break
    case .target: if let place = unsafe member { unsafe delivery.destination = .target(place) }
    case .end, .over: delivery.destination = .end
    }
    defer { tally = delivery.tally }
    return try body(&delivery)
  }
}
