// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

// Setting and reading typed values. The usual case is inlined into the caller: an index check, a
// kind check, and a store. The other cases are functions below.
extension Call {
  @inlinable
  func setArgument<Value: CallValue>(_ value: Value, at index: Int) throws(InvocationError) {
    try checkIndex(index)
    let slot = slot(index)
    if slot.kind != Value.valueKind || slot.kind.isAggregate {
      try checkArgument(Value.self, slot, index)
    }
    if slot.kind.isOwnable {
      try setOwnable(value, slot, index)
    } else {
      try unsafe value.store(in: slot)
    }
  }

  @inlinable
  func argument<Value: CallValue>(
    at index: Int, as type: Value.Type
  ) throws(InvocationError) -> Value {
    try checkIndex(index)
    let slot = slot(index)
    if slot.kind != Value.valueKind || slot.kind.isAggregate {
      try checkArgument(Value.self, slot, index)
    }
    return try unsafe Value.load(from: slot)
  }

  @inlinable
  func result<Value: CallValue>(as type: Value.Type) throws(InvocationError) -> Value {
    guard hasResult else { throw .resultNotAvailable }
    let slot = resultSlot
    if slot.kind != Value.valueKind || slot.kind.isAggregate {
      try checkResult(Value.self, slot)
    }
    return try unsafe Value.load(from: slot)
  }

  // MARK: Steps

  /// Throws if a Swift type does not fit. The plan remembers the answer for structures.
  @inlinable
  func checkArgument<Value: CallValue>(
    _ type: Value.Type, _ slot: ValueSlot, _ index: Int
  ) throws(InvocationError) {
    if isKnownMatch(type, place: index + 1) { return }
    try compareArgument(type, slot, index)
  }

  @inlinable
  func checkResult<Value: CallValue>(
    _ type: Value.Type, _ slot: ValueSlot
  ) throws(InvocationError) {
    if isKnownMatch(type, place: 0) { return }
    try compareResult(type, slot)
  }

  /// Whether the structure that `type` is stored as is already known to fit a place.
  @inlinable
  func isKnownMatch<Value: CallValue>(_ type: Value.Type, place: Int) -> Bool {
    guard let structure = unsafe Value._callFacts(0).structure else { return false }
    return unsafe fwd_is_known_match(facts, place, CallPlan.key(of: structure)) != 0
  }

  @usableFromInline
  func compareArgument<Value: CallValue>(
    _ type: Value.Type, _ slot: ValueSlot, _ index: Int
  ) throws(InvocationError) {
    guard plan.accepts(type, slot.kind, place: index + 1) else {
      throw mismatch(index, given: Value.self)
    }
  }

  @usableFromInline
  func compareResult<Value: CallValue>(
    _ type: Value.Type, _ slot: ValueSlot
  ) throws(InvocationError) {
    guard plan.accepts(type, slot.kind, place: 0) else {
      throw resultMismatch(given: Value.self)
    }
  }

  /// Sets a value that may own memory, in a place that may own its old value.
  @usableFromInline
  func setOwnable<Value: CallValue>(
    _ value: Value, _ slot: ValueSlot, _ index: Int
  ) throws(InvocationError) {
    try checkSettable(index)
    // The old value lives until the new one is stored, because both may be the same object. It is
    // out of the frame meanwhile, where code of the value's type could find it, or store nothing
    // over it.
    let old = slot.word
    let owned = owns(index)
    setOwns(index, false)
    slot.word = 0
    do throws(InvocationError) {
      // `store` may run code of the user's type, which must not set the same place.
      try inUse { () throws(InvocationError) in try unsafe value.store(in: slot) }
    } catch {
      let new = detachArgument(index)
      slot.word = old
      setOwns(index, owned)
      letGo(new)
      throw error
    }
    let owns = Value.ownership != .none && !slot.isNull
    setOwns(index, owns)
    if !owns, isRetaining(index) { retain(index) }
    letGo(
      OwnedWord(old, owned ? slot.kind.ownership : .none, type: swiftType(slot, index + 1)))
  }

  func replace(_ slot: ValueSlot, _ index: Int, with new: OwnedWord) {
    let old = detachArgument(index)
    slot.word = new.word
    setOwns(index, new.ownership != .none)
    letGo(old)
  }

  func mismatch(_ index: Int, given: Any.Type) -> InvocationError {
    .argumentMismatch(
      index: index, expected: plan.type(ofPlace: index + 1), given: SwiftType(given))
  }

  func resultMismatch(given: Any.Type) -> InvocationError {
    .resultMismatch(expected: plan.type(ofPlace: 0), given: SwiftType(given))
  }
}
