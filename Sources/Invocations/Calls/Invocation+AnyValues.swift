import CForwardingShims

// Values of any Swift type, in places that were made for them.
extension Invocation {
  /// Sets an argument of any Swift type, which the place must have been made for: by a ``Message``, or by
  /// the types of a closure. The invocation keeps a copy of the value, or the object.
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

  /// Sets a value whose type says itself how it travels.
  private func setArgument<Value, Stored: CallValue>(
    _ value: Value, as type: Stored.Type, at index: Int
  ) throws(InvocationError) {
    // SAFETY: one type under two names.
    try setArgument(unsafe unsafeBitCast(value, to: Stored.self), at: index)
  }

  /// Reads an argument of any Swift type.
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
  public func result<Value>(
    as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    try call.answer(as: type, TypedPlace(ofAny: type, isResult: true))
  }

  /// Sets a result of any Swift type.
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
    // SAFETY: one type under two names.
    try setResult(unsafe unsafeBitCast(value, to: Stored.self))
  }
}

extension Call {
  /// Sets an argument that was compared with the plan, where nothing is owned yet.
  func setFitting<Value>(
    _ value: Value, _ place: TypedPlace, at index: Int
  ) throws(InvocationError) {
    let slot = slot(index)
    try unsafe place.store(value, in: slot)
    setOwns(index, place.ownership != .none && !slot.isNull)
  }

  /// Reads the result, or what stands for one where there is none: Void, or nil.
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
  func fittingAnswer<Value>(
    as type: Value.Type, _ place: TypedPlace
  ) throws(InvocationError) -> Value {
    // Both have one value, which takes no memory.
    if type == Void.self || type == NoResult.self {
      return unsafe unsafeBitCast((), to: Value.self)
    }
    if hasResult, case .word = place.way {
      return try unsafe place.load(as: type, from: resultSlot)
    }
    return try unusualAnswer(as: type, place)
  }

  /// Takes the result out of a call that ends here.
  @inlinable
  @inline(__always)
  func takeFittingAnswer<Value>(
    as type: Value.Type, _ place: TypedPlace
  ) throws(InvocationError) -> Value {
    if type != Void.self, type != NoResult.self, hasResult, resultOwnership == .value,
      let memory = unsafe UnsafeMutablePointer<Value>(bitPattern: UInt(resultSlot.word))
    {
      // SAFETY: the place was compared with the plan, and the value in its memory is the call's.
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
    // A type that travels as nothing may still say what arrives.
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
