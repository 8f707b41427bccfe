// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

// Access to values of any Swift type.
extension Invocation {
  /// Sets an argument of any Swift type.
  ///
  /// The place must have been made for the type: by a `Message`, or by the types of a closure.
  /// The invocation owns a copy of the value, or retains the object.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/argumentMismatch(index:expected:given:)`` if the place has another type;
  ///   ``InvocationError/argumentInUse(index:)`` or ``InvocationError/targetInUse`` while a call
  ///   uses the old value.
  @_disfavoredOverload
  public func setArgument<Value>(
    _ value: Value, at index: Int
  ) throws(InvocationError) {
    try call.checkIndex(index)
    let place = TypedPlace(ofAny: Value.self)
    guard place.fits(plan, place: index + 1) else {
      throw call.mismatch(index, given: Value.self)
    }
    if case .converted(let type) = place.way { return try setArgument(value, as: type, at: index) }
    let slot = call.slot(index)
    if slot.kind.isOwnable { try call.checkSettable(index) }
    let old = call.detachArgument(index)
    defer { call.letGo(old) }
    // SAFETY: the place was compared with the plan.
    try unsafe place.store(value, in: slot)
    call.setOwns(index, place.ownership != .none && !slot.isNull)
    if !call.owns(index), call.isRetaining(index) { call.retain(index) }
  }

  /// Sets a value whose type converts it.
  private func setArgument<Value, Stored: CallValue>(
    _ value: Value, as type: Stored.Type, at index: Int
  ) throws(InvocationError) {
    // SAFETY: `Value` and `Stored` are the same type.
    try setArgument(unsafe unsafeBitCast(value, to: Stored.self), at: index)
  }

  /// Reads an argument of any Swift type.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/argumentMismatch(index:expected:given:)`` if the argument has another
  ///   type; ``InvocationError/missingValue(index:)`` or another ``InvocationError`` if the place
  ///   holds no value of the type.
  public func argument<Value>(
    at index: Int, as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    try call.checkIndex(index)
    let place = TypedPlace(ofAny: type)
    guard place.fits(plan, place: index + 1) else { throw call.mismatch(index, given: type) }
    // SAFETY: the place was compared with the plan.
    return try unsafe place.load(as: type, from: call.slot(index))
  }

  /// Reads a result of any Swift type.
  ///
  /// - Throws: ``InvocationError/resultMismatch(expected:given:)`` if the result has another type;
  ///   ``InvocationError/resultNotAvailable`` if there is no result.
  public func result<Value>(
    as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    try call.answer(as: type, TypedPlace(ofAny: type, isResult: true))
  }

  /// Sets a result of any Swift type.
  ///
  /// - Throws: ``InvocationError/resultMismatch(expected:given:)`` if the result has another type.
  @_disfavoredOverload
  public func setResult<Value>(_ value: Value) throws(InvocationError) {
    let place = TypedPlace(ofAny: Value.self, isResult: true)
    guard place.fits(plan, place: 0) else { throw call.resultMismatch(given: Value.self) }
    if case .converted(let type) = place.way { return try setResult(value, as: type) }
    let old = call.detachResult()
    defer { call.letGo(old) }
    call.clearResult()
    // SAFETY: the place was compared with the plan.
    try unsafe place.store(value, in: call.resultSlot)
    call.resultOwnership = call.resultSlot.isNull ? .none : place.ownership
    call.hasResult = true
  }
}

extension Invocation {
  private func setResult<Value, Stored: CallValue>(
    _ value: Value, as type: Stored.Type
  ) throws(InvocationError) {
    // SAFETY: `Value` and `Stored` are the same type.
    try setResult(unsafe unsafeBitCast(value, to: Stored.self))
  }
}

extension Call {
  /// Sets an argument of a type that was compared with the plan, in a place that owns nothing yet.
  func setFitting<Value>(
    _ value: Value, _ place: TypedPlace, at index: Int
  ) throws(InvocationError) {
    let slot = slot(index)
    try unsafe place.store(value, in: slot)
    setOwns(index, place.ownership != .none && !slot.isNull)
  }

  /// Reads the result. A call without a result returns `Void`, or nil for an optional.
  @usableFromInline
  package func answer<Value>(
    as type: Value.Type, _ place: TypedPlace
  ) throws(InvocationError) -> Value {
    guard place.fits(plan, place: 0) else { throw resultMismatch(given: type) }
    return try fittingAnswer(as: type, place)
  }

  /// Reads the result, of a type that was compared with the plan.
  @inlinable
  @inline(__always)
  package func fittingAnswer<Value>(
    as type: Value.Type, _ place: TypedPlace
  ) throws(InvocationError) -> Value {
    // Both types have one value and no size.
    if type == Void.self || type == NoResult.self {
      return unsafe unsafeBitCast((), to: Value.self)
    }
    if hasResult, case .word = place.way {
      return try unsafe place.load(as: type, from: resultSlot)
    }
    return try unusualAnswer(as: type, place)
  }

  /// Moves the result out of a call that ends here.
  @inlinable
  @inline(__always)
  package func takeFittingAnswer<Value>(
    as type: Value.Type, _ place: TypedPlace
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
    as type: Value.Type, _ place: TypedPlace
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
}
