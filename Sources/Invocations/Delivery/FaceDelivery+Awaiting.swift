import CForwardingShims

/// The turns of a delivery that is awaited: the targets of a face one after the other, each when the one before has
/// ended.
@safe
@usableFromInline
package struct AwaitedTurns {
  // SAFETY: a variable of the method that delivers, which keeps the list until the delivery ends.

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

  @usableFromInline package var delivery: FaceDelivery
  private var next: Turn
  private var current = Turn.over
  private var round = unsafe FWDDirectRound()
  private let list: UnsafeMutablePointer<FWDOwnedList>?
  private var step: AwaitedStep?
  /// The target whose turn it is, and its place in the list.
  private var member: MemberPlace?
  @usableFromInline package private(set) var target: AwaitedTarget?
  private var answer = FaceAnswer<Void>.unanswered(NotImplemented())

  private let face: UnsafeRawPointer
  private let place: Int
  private let selector: Selector
  private let isOptional: Bool
  private let hasResult: Bool

  /// Begins a delivery.
  ///
  /// - Parameter place: where the tables of a target have that of the protocol.
  @usableFromInline
  package init(
    _ selector: Selector, isOptional: Bool, hasResult: Bool, to targets: FaceTargets,
    of proxy: AnyObject, _ place: Int
  ) {
    delivery = unsafe FaceDelivery(targets, proxy)
    unsafe face = targets.face
    self.place = place
    self.selector = selector
    self.isOptional = isOptional
    self.hasResult = hasResult
    var list = unsafe targets.list.map { unsafe fwd_owned_list_of($0) }
    if let known = unsafe list, unsafe fwd_awaited_begin(&round, known) == 0 {
      targets.owner?.proxy.publishTargets()
      if unsafe fwd_awaited_begin(&round, known) == 0 { unsafe list = nil }
    }
    unsafe self.list = list
    guard unsafe list != nil, let object = unsafe targets.list else {
      next = .proxy
      return
    }
    next = .target
    step = AwaitedStep.enter(through: unsafe unsafeBitCast(object, to: ObjectIdentifier.self))
    if step == nil {
      next = .over
      answer = .failed(
        InvocationError.forwardedTooDeeply(selector, limit: ForwardingDepth.limit))
    }
  }

  /// Begins the next turn; false where there is none.
  @usableFromInline
  package mutating func begin() -> Bool {
    target = nil
    current = next
    switch next {
    case .proxy: next = .over
    case .target: return beginTarget() || beginEnd()
    case .end, .over: return false
    }
    return true
  }

  private mutating func beginTarget() -> Bool {
    guard let list = unsafe list else { return false }
    if delivery.tally.answered > 0, unsafe fwd_list_stops_at_first(list, hasResult ? 1 : 0) != 0 {
      return false
    }
    guard let member = unsafe fwd_direct_next(&round) else { return false }
    // A list of one asks its target also for a task that was cancelled.
    if Task.isCancelled, unsafe fwd_list_rules(list) & UInt32(FWD_LIST_OF_ONE) == 0 {
      delivery.tally.fail(CancellationError())
      return false
    }
    unsafe self.member = member
    unsafe target = AwaitedTarget(fwd_direct_take(member, face, place))
    if target == nil {
      unsafe delivery.destination = .target(member)
      number()
    }
    return true
  }

  /// Decides what the sender gets; true where the proxy is asked.
  private mutating func beginEnd() -> Bool {
    next = .over
    current = .over
    let tally = delivery.tally
    if !tally.isSimple(hasResult) { delivery.owner?.proxy.tidy(tally, of: selector) }
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
    delivery.destination = .end
    return true
  }

  /// Lets the delivery stand for a message.
  private mutating func number() {
    if delivery.message != 0 { return }
    delivery.message = fwd_next_face_message()
    step?.standsFor(delivery.message)
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
    if isOptional, step?.takeLeftOut(target.identity, selector) ?? false {
      if let member = unsafe member { unsafe FaceDelivery.noteLeftOut(selector, at: member) }
      return false
    }
    delivery.tally.answered += 1
    return true
  }

  /// Ends a turn with an error.
  @usableFromInline
  @inline(never)
  package mutating func fail(_ error: any Error) {
    guard case .target = current, let member = unsafe member else {
      answer =
        UnansweredMessages.take(delivery.message, error) ? .unanswered(error) : .failed(error)
      return
    }
    if target != nil {
      delivery.tally.fail(error, at: unsafe Invocations.member(at: member))
    } else if !(error is FaceDelivery.NotAnswered) {
      // One that has not answered is none that failed.
      delivery.tally.fail(error)
    }
  }

  /// Ends the delivery, and says what the sender gets: where it is an answer, that of the last turn which ended with
  /// one.
  @usableFromInline
  package mutating func conclude() -> FaceAnswer<Void> {
    step?.leave()
    step = nil
    if let list = unsafe list { unsafe fwd_awaited_end(&round, list) }
    return answer
  }
}

/// A target that a face calls and awaits.
@safe
@usableFromInline
package struct AwaitedTarget {
  // SAFETY: made for one call, which takes the reference.
  private let object: UnsafeMutableRawPointer
  private let table: UnsafeRawPointer

  /// A target that was taken, with a reference of its own; nil if there is none.
  @unsafe
  fileprivate init?(_ taken: FWDDirectTarget) {
    guard let object = unsafe taken.object, let table = unsafe taken.table else { return nil }
    unsafe self.object = taken.retained ?? swift_retain(object)
    unsafe self.table = table
  }

  /// Tells objects apart.
  fileprivate var identity: ObjectIdentifier {
    unsafe unsafeBitCast(object, to: ObjectIdentifier.self)
  }

  /// The target with its reference, once.
  @usableFromInline
  package func take<Target>(as type: Target.Type) -> Target {
    // SAFETY: a value of a protocol for objects is the object and the table.
    var words = unsafe (object, table)
    return unsafe withUnsafeMutableBytes(of: &words) {
      unsafe $0.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: type).move()
    }
  }
}

extension FaceDelivery {
  /// Sends the message whose arguments are set, and awaits the answer. Where this returns, the invocation has it.
  package nonisolated(nonsending) mutating func sendAwaiting(_ invocation: Invocation) async throws {
    if case .proxy = destination { message = fwd_next_face_message() }
    unsafe invocation.call.state.pointee.message = message
    switch destination {
    case .proxy: try await invocation.sendAwaiting(to: proxy)
    case .target(let place):
      let before = tally.answered
      await owner?.proxy.deliverAwaiting(invocation, to: unsafe member(at: place), &tally)
      if tally.answered == before, invocation.returnsValue { throw NotAnswered.error }
    case .end: try await owner?.proxy.answerAwaiting(invocation, for: tally)
    }
  }
}
