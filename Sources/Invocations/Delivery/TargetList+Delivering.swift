// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

extension TargetList {
  /// The turn of a target, while the delivery keeps the list.
  @safe
  package struct Turn {
    // SAFETY: lent by the delivery to its closure.
    fileprivate let place: MemberPlace
    package let outcome: Call.Outcome

    /// The target.
    package var member: ListedTarget { unsafe Invocations.member(at: place) }
  }

  /// Sends a call to the targets in order.
  ///
  /// - Parameters:
  ///   - listsAll: whether `turn` is also called, with `skipped`, for the targets that have no turn
  ///     because one before ended the delivery.
  ///   - turn: called after a target was called, while the call has its answer, and for each target
  ///     that is not simply called: the closure sends to that. Returns whether the delivery goes on.
  /// - Throws: ``InvocationError`` if the call comes back to the list that is delivering it, or is
  ///   forwarded too deeply.
  package func deliver(
    _ call: Call, of selector: Selector, for owner: some TargetListOwner,
    listsAll: Bool = false, turn: (Turn) -> Bool
  ) throws(InvocationError) {
    let isLent = call.isTargetLent
    call.isTargetLent = true
    defer { call.isTargetLent = isLent }
    try ForwardingDepth.enter(self, call, selector, for: owner)
    defer { ForwardingDepth.leave() }
    // An old result must not pass for an answer to this message.
    call.forgetResult()
    var round = unsafe fwd_direct_keep(place)
    while unsafe round.list == nil {
      // Another thread may withdraw the list at once.
      owner.publishTargets()
      unsafe round = fwd_direct_keep(place)
    }
    guard let list = unsafe round.list else { return }
    defer { unsafe fwd_direct_let_go(round) }
    var walk = unsafe TargetWalk(list)
    let word = UInt64(selector.word)
    var isOver = false
    while let place = unsafe walk.next() {
      let goesOn = unsafe turn(
        Turn(place: place, outcome: isOver ? .skipped : call.perform(at: place, word)))
      isOver = isOver || !goesOn
      if isOver, !listsAll { return }
    }
  }
}

extension Call {
  /// The outcome of calling a target.
  package enum Outcome {
    case answered
    case failed(any Error)
    /// The target is not simply called.
    case unknown
    /// The delivery ended before the turn of the target.
    case skipped
  }

  /// Calls the method that the class of a target is known to have, if the target is an ordinary one.
  /// If it throws, the result of an earlier target stays.
  @unsafe
  func perform(at place: MemberPlace, _ selector: UInt64) -> Outcome {
    let taken = unsafe fwd_target_retain(fwd_target_of(place.pointee))
    guard let object = unsafe taken.object else { return .unknown }
    let (before, had) = (receiverWord, hasResult)
    var outcome = Outcome.answered
    receiverWord = UInt64(UInt(bitPattern: object))
    do {
      try unsafe performKnownMethod(
        of: BorrowedObject(object), selector, isKept: true
      ) { held in
        if try unsafe !performOwning(held) { outcome = .unknown }
      }
    } catch {
      // A body writes its result last, so the bytes of an earlier one are still in place.
      hasResult = had
      outcome = .failed(error)
    }
    // The `deinit` of a target that dies on its release must not find the target in the frame.
    receiverWord = before
    unsafe fwd_target_release(taken)
    return outcome
  }

  /// Performs a method whose result may be owned, and ends its hold. Returns false if there is no
  /// method that fits.
  @unsafe
  @inline(never)
  private func performOwning(_ held: FWDHeldMethod) throws -> Bool {
    guard let method = unsafe held.method, let thread = unsafe held.thread,
      let hold = unsafe held.hold
    else { return false }
    defer { unsafe fwd_let_go_from(thread, hold) }
    guard unsafe method.pointee.plan == facts.pointee.identity,
      unsafe method.pointee.function != nil || method.pointee.implementation != nil
    else { return false }
    try unsafe performKeepingResult(method)
    return true
  }

  /// Performs a method. If it throws, the result of an earlier target stays.
  @unsafe
  func performKeepingResult(_ method: UnsafePointer<FWDMethod>) throws {
    let had = hasResult
    let old = detachResult()
    do {
      try unsafe perform(method)
    } catch {
      // A `deinit` that ran because of the error may have set a result.
      let stray = detachResult()
      defer { letGo(stray) }
      // The bytes of an unowned result are still in place.
      if old.ownership != .none {
        resultSlot.word = old.word
        resultOwnership = old.ownership
      }
      hasResult = had
      throw error
    }
    letGo(old)
  }
}
