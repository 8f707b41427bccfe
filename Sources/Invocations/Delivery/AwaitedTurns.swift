import CForwardingShims

/// The turns of a delivery that is awaited: the targets of a face one after the other, each when the one before has
/// ended.
@safe
@usableFromInline
package struct AwaitedTurns: ~Copyable {
  // SAFETY: a variable of a method of the face, which keeps the proxy, and so the list.

  /// Whose turn it is.
  private enum Turn {
    /// That of the proxy, where the face calls no targets.
    case proxy
    /// That of the next target.
    case target
    /// That of the proxy, as all targets had theirs and none has answered.
    case end
    /// None begins any more.
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
  /// Whether no target is asked once the task is cancelled: where the sender gets the error.
  private let endsWithTask: Bool

  /// The next turn; nil until the delivery begins.
  private var next: Turn?
  private var current = Turn.over
  private var isKept = false
  private var round = unsafe FWDDirectRound()
  private var step: AwaitedStep?
  /// Where the target stands whose turn it is.
  private var member: MemberPlace?
  /// The target, if the face calls it.
  @usableFromInline var target: AwaitedTarget?
  /// The number of the message that the delivery stands for; 0 until one is needed.
  private var message: UInt64 = 0
  private var tally = TargetList.Tally()
  private var answer: FaceAnswer<Void>?

  /// Begins a delivery.
  ///
  /// - Parameters:
  ///   - endsWithTask: whether no target is asked once the task is cancelled.
  ///   - place: where the tables of a target have that of the protocol.
  @usableFromInline
  package init(
    _ selector: Selector, isOptional: Bool, hasResult: Bool, endsWithTask: Bool,
    to targets: borrowing FaceTargets,
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
    unsafe object = targets.list
  }

  private var list: UnsafeMutablePointer<FWDOwnedList>? {
    unsafe object.map { unsafe fwd_owned_list_of($0) }
  }

  /// Keeps the list, and takes the task into a step.
  ///
  /// Here, and not where the variable is made: a task gives back memory in the reverse order, and the values of its
  /// steps are such. So nothing of a method that has begun a delivery may be older than the step and end before it.
  private mutating func enter() {
    next = .proxy
    guard let list = unsafe list, let object = unsafe object else { return }
    if unsafe fwd_awaited_begin(&round, list) == 0 {
      unsafe owner?._withUnsafeGuaranteedRef { $0.proxy.publishTargets() }
      guard unsafe fwd_awaited_begin(&round, list) != 0 else { return }
    }
    isKept = true
    step = AwaitedStep.enter(through: unsafe unsafeBitCast(object, to: ObjectIdentifier.self))
    if step != nil {
      next = .target
    } else {
      next = .over
      answer = .failed(
        InvocationError.forwardedTooDeeply(selector, limit: ForwardingDepth.limit))
    }
  }

  /// Lets the task leave the step, and the list go.
  private mutating func leave() {
    step?.leave()
    step = nil
    if isKept, let list = unsafe list { unsafe fwd_awaited_end(&round, list) }
    isKept = false
  }

  /// Begins the next turn; false where there is none, and then the delivery is over.
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
    guard let list = unsafe list else { return false }
    if tally.answered > 0, unsafe fwd_list_stops_at_first(list, hasResult ? 1 : 0) != 0 {
      return false
    }
    guard let member = unsafe fwd_direct_next(&round) else { return false }
    // A list of one asks its target also for a task that was cancelled.
    if endsWithTask, Task.isCancelled, unsafe fwd_list_rules(list) & UInt32(FWD_LIST_OF_ONE) == 0 {
      tally.fail(CancellationError())
      return false
    }
    unsafe self.member = member
    unsafe target = AwaitedTarget(fwd_direct_take(member, face, place))
    if target == nil { number() }
    return true
  }

  /// Decides what the sender gets; true where the proxy is asked.
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
    if tally.answered > 0 || tally.hasQueued && !hasResult {
      answer = .answered(())
      return false
    }
    current = .end
    number()
    return true
  }

  /// Lets the delivery stand for a message.
  private mutating func number() {
    if message != 0 { return }
    message = fwd_next_face_message() | (endsWithTask ? 0 : FWD_UNCANCELLED_MESSAGE_BIT)
    step?.standsFor(message)
  }

  /// Ends a turn that has come to its end; false where the target leaves the requirement out.
  @usableFromInline
  package mutating func end() -> Bool {
    guard case .target = current else {
      answer = .answered(())
      return true
    }
    // A message has counted its answers itself.
    guard let target else { return true }
    if isLeftOut(by: target) { return false }
    tally.answered += 1
    return true
  }

  /// Whether a target has left out the requirement that it was called by; then notes it.
  private func isLeftOut(by target: AwaitedTarget) -> Bool {
    guard isOptional, step?.takeLeftOut(target.identity, selector) ?? false else { return false }
    if let member = unsafe member { unsafe FaceDelivery.noteLeftOut(selector, at: member) }
    return true
  }

  /// Ends a turn with an error.
  @usableFromInline
  @inline(never)
  package mutating func fail(_ error: any Error) {
    guard case .target = current, let member = unsafe member else {
      answer =
        UnansweredMessages.take(message, error) ? .unanswered(error) : .failed(error)
      return
    }
    if let target {
      // What has no value to return where it is left out throws.
      if !isLeftOut(by: target) { tally.fail(error, at: unsafe Invocations.member(at: member)) }
    } else if !(error is FaceDelivery.NotAnswered) {
      // One that has not answered is none that failed.
      tally.fail(error)
    }
  }

  /// What the sender gets when the delivery is over: where it is an answer, that of the last turn which ended with one.
  @usableFromInline
  package func conclude() -> FaceAnswer<Void> { answer ?? .unanswered(NotImplemented()) }

  /// The proxy.
  package var receiver: AnyObject { unsafe proxy.takeUnretainedValue() }

  // MARK: Messages

  /// Sends the message whose arguments are set, and awaits the answer. Where this returns, the invocation has it.
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

  /// The same turn for a requirement that cannot be a message.
  package mutating func refuse<Result>(
    _ body: (inout FaceDelivery) throws -> Result
  ) rethrows -> Result {
    var delivery = FaceDelivery(to: receiver)
    delivery.tally = tally
    switch current {
    case .proxy: break
    case .target: if let place = unsafe member { unsafe delivery.destination = .target(place) }
    case .end, .over: delivery.destination = .end
    }
    defer { tally = delivery.tally }
    return try body(&delivery)
  }
}
