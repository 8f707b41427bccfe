// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims
import TypeEncodings

// What setting and reading values has in common.
extension Call {
  /// Throws if a Swift type does not fit. The plan remembers the answer for structures.
  @inlinable
  @inline(__always)
  func check<Value: CallValue>(_ type: Value.Type, _ slot: ValueSlot) throws(InvocationError) {
    if slot.kind == type.valueKind, !slot.kind.isAggregate { return }
    if let structure = unsafe type._callFacts(0).structure,
      unsafe fwd_is_known_match(facts, slot.place, CallPlan.key(of: structure)) != 0
    {
      return
    }
    try compare(type, slot)
  }

  @usableFromInline
  func compare<Value: CallValue>(_ type: Value.Type, _ slot: ValueSlot) throws(InvocationError) {
    guard plan.accepts(type, slot.kind, place: slot.place) else {
      throw mismatch(slot, given: type)
    }
  }

  /// How values of any type are stored in a place.
  func place<Value>(
    of type: Value.Type, _ slot: ValueSlot
  ) throws(InvocationError) -> Place {
    let place = Place(of: type, isResult: slot.index == nil)
    guard place.fits(plan, place: slot.place) else { throw mismatch(slot, given: type) }
    return place
  }

  /// Sets an argument of a type that was compared with the plan, in a place that owns nothing yet.
  func setFitting<Value>(
    _ value: Value, _ place: Place, at index: Int
  ) throws(InvocationError) {
    let slot = slot(index)
    try unsafe place.store(value, in: slot)
    setOwns(index, place.ownership != .none && !slot.isNull)
  }

  /// Where the result is, for values of a type that was compared with the plan.
  @usableFromInline
  package func placeOfResult<Value>(as type: Value.Type) throws(InvocationError) -> Place {
    try place(of: type, resultSlot)
  }

  /// Reads the result. A call without a result returns `Void`, or nil for an optional.
  @usableFromInline
  package func answer<Value>(
    as type: Value.Type, _ place: Place
  ) throws(InvocationError) -> Value {
    guard place.fits(plan, place: 0) else { throw mismatch(resultSlot, given: type) }
    return try fittingAnswer(as: type, place)
  }

  /// Reads the result, of a type that was compared with the plan.
  @inlinable
  @inline(__always)
  package func fittingAnswer<Value>(
    as type: Value.Type, _ place: Place
  ) throws(InvocationError) -> Value {
    // Both types have one value and no size.
    if type == Void.self || type == NoResult.self {
      return unsafe unsafeBitCast((), to: Value.self)
    }
    if hasResult, case .word = place.content {
      return try unsafe place.load(as: type, from: resultSlot)
    }
    return try unusualAnswer(as: type, place)
  }

  /// Moves the result out of a call that ends here.
  @inlinable
  @inline(__always)
  package func takeFittingAnswer<Value>(
    as type: Value.Type, _ place: Place
  ) throws(InvocationError) -> Value {
    if type != Void.self, type != NoResult.self, hasResult, resultOwnership == .value,
      let memory = unsafe UnsafeMutablePointer<Value>(bitPattern: UInt(resultSlot.word))
    {
      // SAFETY: the place was compared with the plan, and the call owns the value.
      resultOwnership = .none
      hasResult = false
      return unsafe AnyValue.take(memory)
    }
    return try fittingAnswer(as: type, place)
  }

  @usableFromInline
  func unusualAnswer<Value>(
    as type: Value.Type, _ place: Place
  ) throws(InvocationError) -> Value {
    // A type that is stored as nothing may still refuse the value.
    if resultSlot.kind.isNothing { return try unsafe place.load(as: type, from: resultSlot) }
    guard hasResult else { throw .resultNotAvailable }
    if resultSlot.kind.isSwiftValue, resultSlot.isNull,
      let empty = type as? any ExpressibleByNilLiteral.Type, let value = none(of: empty) as? Value
    {
      return value
    }
    // SAFETY: the place was compared with the plan.
    return try unsafe place.load(as: type, from: resultSlot)
  }

  private func none<Empty: ExpressibleByNilLiteral>(of type: Empty.Type) -> Any {
    type.init(nilLiteral: ())
  }

  // MARK: Bytes without ownership or addresses

  /// Whether there is a result to read.
  package var hasReadableResult: Bool { hasResult && returnsValue }

  private func slot(ofPlace place: Int) -> ValueSlot {
    place == 0 ? resultSlot : slot(place - 1)
  }

  /// Copies the bytes of a value; place 0 is the result.
  ///
  /// - Safety: the place must hold numbers, and `memory` must have room for them.
  @unsafe
  package func copyBytes(ofPlace place: Int, to memory: UnsafeMutableRawPointer) {
    let slot = slot(ofPlace: place)
    unsafe fwd_slot_load(slot.slot, slot.frame, memory, slot.size)
  }

  /// Sets a value by its bytes; place 0 is the result.
  ///
  /// - Safety: the place must hold numbers, and `memory` must hold as many bytes, which are a valid
  ///   value of its type.
  @unsafe
  package func setBytes(ofPlace place: Int, from memory: UnsafeRawPointer) {
    let slot = slot(ofPlace: place)
    unsafe fwd_slot_store_raw(slot.slot, slot.frame, memory)
    if place == 0 { hasResult = true }
  }

  // MARK: Replacing

  /// Sets an argument that may own its value by what `store` writes.
  func replace(
    _ slot: ValueSlot, _ index: Int, isOwned: Bool,
    _ store: () throws(InvocationError) -> Void
  ) throws(InvocationError) {
    try checkSettable(index)
    // The old value lives until the new one is stored, because both may be the same object. It is
    // out of the frame meanwhile, where code of the value's type could find it, or store nothing
    // over it.
    let old = detachArgument(index)
    do throws(InvocationError) {
      // `store` may run code of the user's type, which must not set the same place.
      try inUse(store)
    } catch {
      let new = detachArgument(index)
      slot.word = old.word
      setOwns(index, old.ownership != .none)
      letGo(new)
      throw error
    }
    setOwns(index, isOwned && !slot.isNull)
    if !owns(index), isRetaining(index) { retain(index) }
    letGo(old)
  }

  /// Sets the result by what `store` writes.
  func replaceResult(
    isOwned: Bool, _ store: () throws(InvocationError) -> Void
  ) throws(InvocationError) {
    let slot = resultSlot
    let old = detachResult()
    defer { letGo(old) }
    clearResult()
    try store()
    // Storing may run code of the value's type, which may set a result too.
    let replaced = detachReplaced()
    defer { letGo(replaced) }
    resultOwnership = isOwned && !slot.isNull ? slot.kind.ownership : .none
    hasResult = true
  }

  func mismatch(_ slot: ValueSlot, given: Any.Type) -> InvocationError {
    .typeMismatch(
      index: slot.index, expected: plan.type(ofPlace: slot.place), given: SwiftType(given))
  }
}

// Ownership of the values of a recorded call.
extension Call {
  @inlinable
  func owns(_ index: Int) -> Bool {
    unsafe fwd_owned_word(facts, state, index).pointee & (1 << UInt64(index % 64)) != 0
  }

  @inlinable
  func setOwns(_ index: Int, _ value: Bool) {
    let word = unsafe fwd_owned_word(facts, state, index)
    let bit: UInt64 = 1 << UInt64(index % 64)
    if value { unsafe word.pointee |= bit } else { unsafe word.pointee &= ~bit }
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
    unsafe unmanagedPlan._withUnsafeGuaranteedRef { plan in
      plan.travels ? nil : firstBorrowedArgument(of: plan)
    }
  }

  private func firstBorrowedArgument(of plan: CallPlan) -> Int? {
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
