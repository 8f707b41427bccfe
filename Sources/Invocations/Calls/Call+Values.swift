// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

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
    let expected = plan.type(ofPlace: slot.place)
    guard let index = slot.index else {
      return .resultMismatch(expected: expected, given: SwiftType(given))
    }
    return .argumentMismatch(index: index, expected: expected, given: SwiftType(given))
  }
}
