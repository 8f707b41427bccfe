// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims
import TypeEncodings

// Ownership of the values of a recorded call.
extension Call {
  // MARK: Ownership

  /// The words behind the frame with the ownership bits of the arguments from index 64 on.
  private var ownedBeyond: UnsafeMutableBufferPointer<UInt64> {
    let start = unsafe (frame + Int(facts.pointee.frame_size))
    return unsafe UnsafeMutableBufferPointer(
      start: start.assumingMemoryBound(to: UInt64.self), count: Int(facts.pointee.owned_words))
  }

  @inlinable
  var hasOwnedBeyond: Bool { unsafe facts.pointee.owned_words > 0 }

  @inlinable
  func owns(_ index: Int) -> Bool {
    index < 64 ? owned & (1 << UInt64(index)) != 0 : ownsBeyond(index)
  }

  @usableFromInline
  func ownsBeyond(_ index: Int) -> Bool {
    unsafe ownedBeyond[index / 64 - 1] & (1 << UInt64(index % 64)) != 0
  }

  @inlinable
  func setOwns(_ index: Int, _ value: Bool) {
    if index < 64 {
      let bit: UInt64 = 1 << UInt64(index)
      owned = value ? owned | bit : owned & ~bit
    } else {
      setOwnsBeyond(index, value)
    }
  }

  @usableFromInline
  func setOwnsBeyond(_ index: Int, _ value: Bool) {
    let bit: UInt64 = 1 << UInt64(index % 64)
    let words = unsafe ownedBeyond
    if value { unsafe words[index / 64 - 1] |= bit } else { unsafe words[index / 64 - 1] &= ~bit }
  }

  // Releasing a value may run a `deinit` that has this call and does anything with it. So values
  // are released last, when the state is consistent again, and while the target is lent.

  func letGo(_ old: OwnedWord) {
    if old.ownership == .object || old.ownership == .value {
      lendingTarget { old.release() }
    } else {
      old.release()
    }
  }

  /// The type of the values of a place that holds their addresses; nil for other places.
  @inline(__always)
  func swiftType(_ slot: ValueSlot) -> Any.Type? {
    slot.kind.isSwiftValue ? plan.swiftType(ofPlace: slot.place)?.type : nil
  }

  /// Moves the value of argument `index` out of the frame. The caller releases it.
  func detachArgument(_ index: Int) -> OwnedWord {
    let slot = slot(index)
    let taken = OwnedWord(
      slot.word, owns(index) ? slot.kind.ownership : .none, type: swiftType(slot))
    setOwns(index, false)
    slot.word = 0
    return taken
  }

  /// Moves an owned result out of the frame. The caller releases it.
  func detachResult() -> OwnedWord {
    let taken = OwnedWord(resultSlot.word, resultOwnership, type: swiftType(resultSlot))
    hasResult = false
    if taken.ownership != .none {
      resultOwnership = .none
      resultSlot.word = 0
    }
    return taken
  }

  /// Moves out a result that code set while the call ran. The call's own result has been written
  /// over it.
  func detachReplaced() -> OwnedWord {
    let word = unsafe state.pointee.owned_result
    let taken = OwnedWord(word, resultOwnership, type: swiftType(resultSlot))
    resultOwnership = .none
    return taken
  }

  /// Runs a call without the old result, which is released after the call.
  @inline(__always)
  func replacingResult<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard resultOwnership != .none else {
      hasResult = false
      return try body()
    }
    let old = detachResult()
    defer { letGo(old) }
    return try body()
  }

  /// Releases the value that argument `index` owns.
  func releaseOwned(_ index: Int) { letGo(detachArgument(index)) }

  @usableFromInline
  func releaseArguments() {
    for index in 0..<argumentCount where owns(index) { releaseOwned(index) }
  }

  /// Discards the result, and releases it.
  @usableFromInline
  func releaseResult() { letGo(detachResult()) }

  // MARK: Retaining borrowed values

  /// Whether argument `index` is retained when it is set.
  func isRetaining(_ index: Int) -> Bool {
    guard retainsArguments, index > 0 || !isTargetLent else { return false }
    return index == 0 && plan.signature.shape == .method ? retainsTarget : true
  }

  /// Retains or copies argument `index`, which is borrowed.
  func retain(_ index: Int) {
    let slot = slot(index)
    guard slot.kind.isOwnable, !slot.isNull else { return }
    let type = swiftType(slot)
    slot.word = OwnedWord(keeping: slot.word, as: slot.kind.ownership, type: type).word
    setOwns(index, true)
  }

  /// Retains or copies all borrowed values, because the lender is about to release them.
  func keepEverything() {
    keepArguments()
    keepResult()
    if !hasResult { clearResult() }
  }

  func keepArguments() {
    let first = isTargetLent ? 1 : 0
    for index in first..<max(first, argumentCount) where !owns(index) { retain(index) }
  }

  /// Clears the place of an owned result, so that a nonzero word after the call is a new result.
  func clearResult() {
    let slot = resultSlot
    if slot.kind.isOwnable { slot.word = 0 }
  }

  /// Retains or copies a borrowed result. Without a result, the bytes of its place are undefined.
  func keepResult() {
    let slot = resultSlot
    guard hasResult, resultOwnership == .none, slot.kind.isOwnable, !slot.isNull else { return }
    let type = swiftType(slot)
    let kept = OwnedWord(keeping: slot.word, as: slot.kind.ownership, type: type)
    slot.word = kept.word
    resultOwnership = kept.ownership
  }

  /// The index of the first argument with memory that `retainArguments` does not retain: a pointer,
  /// a block, a lent variable, or a structure that holds a pointer. NULL does not count.
  package var firstBorrowedArgument: Int? {
    let plan = plan
    if plan.travels { return nil }
    let declared = plan.signature.numberOfHiddenArguments..<plan.argumentCount
    return declared.first { index in
      let slot = slot(index)
      if slot.kind.isAggregate { return plan.signature.argumentTypes[index].holdsAddress }
      if plan.lendsVariables, slot.kind.isSwiftValue {
        return plan.swiftType(ofPlace: index + 1)?.type is any LentVariable.Type
      }
      return slot.kind.isUnownedPointer && !slot.isNull
    }
  }
}
