// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

// The usual case is inlined into the caller: an index check, a kind check, and a store. The overloads
// for any Swift types are of places that were made for them: by a `Message`, or by the types of a
// closure.
extension Invocation {
  // MARK: Arguments

  /// Sets an argument. `value` must be of the Swift type that the encoding names.
  ///
  /// A `String` is copied and an object retained, until they are replaced or the invocation dies.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/typeMismatch(index:expected:given:)`` if `value` has another type;
  ///   ``InvocationError/embeddedNUL(offset:)`` for text with a NUL;
  ///   ``InvocationError/argumentInUse(index:)`` while a call uses the old value.
  @inlinable
  public func setArgument<Value: CallValue>(
    _ value: Value, at index: Int
  ) throws(InvocationError) {
    let slot = try call.checkedSlot(index)
    try call.check(Value.self, slot)
    guard slot.kind.isOwnable else { return try unsafe value.store(in: slot) }
    try setOwnable(value, slot, index)
  }

  @usableFromInline
  func setOwnable<Value: CallValue>(
    _ value: Value, _ slot: ValueSlot, _ index: Int
  ) throws(InvocationError) {
    try call.replace(slot, index, isOwned: Value.ownership != .none) { () throws(InvocationError) in
      try unsafe value.store(in: slot)
    }
  }

  /// Sets an argument of any Swift type.
  ///
  /// The place must have been made for the type: by a `Message`, or by the types of a closure.
  /// The invocation owns a copy of the value, or retains the object.
  ///
  /// - Throws: The errors of the function for a ``CallValue``.
  @_disfavoredOverload
  public func setArgument<Value>(
    _ value: Value, at index: Int
  ) throws(InvocationError) {
    let slot = try call.checkedSlot(index)
    let place = try call.place(of: Value.self, slot)
    // SAFETY: the place was compared with the plan.
    guard slot.kind.isOwnable else { return try unsafe place.store(value, in: slot) }
    try call.replace(slot, index, isOwned: place.ownership != .none) { () throws(InvocationError) in
      try unsafe place.store(value, in: slot)
    }
  }

  /// Sets an object, or nil, and retains it until it is replaced. Nil also fits pointer places.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/typeMismatch(index:expected:given:)`` if the argument is not an
  ///   object; ``InvocationError/argumentInUse(index:)`` while a
  ///   call uses the old value.
  public func setArgument(_ object: AnyObject?, at index: Int) throws(InvocationError) {
    try call.setObject(object, at: index, isOwned: true)
  }

  /// Sets an object without retaining it, as `NSInvocation` does before `retainArguments`.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/typeMismatch(index:expected:given:)`` if the argument is not an
  ///   object; ``InvocationError/argumentInUse(index:)`` while a
  ///   call uses the old value.
  /// - Safety: the object must outlive every call and every read.
  @unsafe
  public func setArgument(unretained object: AnyObject?, at index: Int) throws(InvocationError) {
    try call.setObject(object, at: index, isOwned: false)
  }

  /// Sets an integer of any type if the argument's type can represent it exactly.
  ///
  /// - Throws: ``InvocationError/notExact(value:type:)`` if it cannot;
  ///   ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/typeMismatch(index:expected:given:)`` if the argument is not a number.
  public func setArgument<Value: BinaryInteger>(
    exactly value: Value, at index: Int
  ) throws(InvocationError) {
    let slot = try call.checkedSlot(index)
    func store<Number: CallValue>(_ number: Number?) throws(InvocationError) {
      guard let number else {
        throw .notExact(value: "\(value)", type: plan.type(ofPlace: index + 1))
      }
      try unsafe number.store(in: slot)
    }
    switch slot.kind {
    case .int8: try store(Int8(exactly: value))
    case .uInt8: try store(UInt8(exactly: value))
    case .int16: try store(Int16(exactly: value))
    case .uInt16: try store(UInt16(exactly: value))
    case .int32: try store(Int32(exactly: value))
    case .uInt32: try store(UInt32(exactly: value))
    case .int64: try store(Int64(exactly: value))
    case .uInt64: try store(UInt64(exactly: value))
    case .int128: try store(Int128(exactly: value))
    case .uInt128: try store(UInt128(exactly: value))
    case .bool: try store(value == 0 ? false : value == 1 ? true : nil)
    case .float: try store(Float(exactly: value))
    case .double: try store(Double(exactly: value))
    case .longDouble: try store(LongDouble(exactly: value))
    default: throw call.mismatch(slot, given: Value.self)
    }
  }

  /// Sets an argument by its bytes, exactly as many as its type has.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/typeMismatch(index:expected:given:)`` for Swift text;
  ///   ``InvocationError/wrongSize(expected:given:)`` if the number of bytes is wrong;
  ///   ``InvocationError/argumentInUse(index:)`` while a call uses the old value.
  /// - Safety: an object or C string is borrowed. It must outlive every call, or
  ///   ``retainArguments(includingTarget:)`` must follow while it lives. A `:` must be the address
  ///   of a selector.
  @unsafe
  public func setArgument(bytes: [UInt8], at index: Int) throws(InvocationError) {
    let slot = try call.checkedSlot(index)
    try call.checkBytes(slot, count: bytes.count)
    guard slot.kind.isOwnable else { return unsafe slot.store(bytes: bytes) }
    try call.replace(slot, index, isOwned: false) { unsafe slot.store(bytes: bytes) }
  }

  /// Reads an argument. An argument that was never set is zero.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/typeMismatch(index:expected:given:)`` if the argument has another
  ///   type; another ``InvocationError`` if its bytes are no value of the type.
  @inlinable
  public func argument<Value: CallValue>(
    at index: Int, as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    let slot = try call.checkedSlot(index)
    try call.check(type, slot)
    return try unsafe Value.load(from: slot)
  }

  /// Reads an argument of any Swift type.
  ///
  /// - Throws: The errors of the function for a ``CallValue``;
  ///   ``InvocationError/missingValue(index:)`` if the argument was never set.
  public func argument<Value>(
    at index: Int, as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    let slot = try call.checkedSlot(index)
    // SAFETY: the place was compared with the plan.
    return try unsafe call.place(of: type, slot).load(as: type, from: slot)
  }

  /// Reads an object argument.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/typeMismatch(index:expected:given:)`` if the argument is not an
  ///   object.
  public func object(at index: Int) throws(InvocationError) -> AnyObject? {
    try call.object(in: call.checkedSlot(index))
  }

  /// The bytes of an argument, exactly as many as its type has.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/typeMismatch(index:expected:given:)`` for Swift text, as in a message
  ///   of a `String`, which has no C bytes.
  public func argumentBytes(at index: Int) throws(InvocationError) -> [UInt8] {
    let slot = try call.checkedSlot(index)
    try call.checkBytes(slot, count: slot.size)
    return slot.bytes
  }

  // MARK: The result

  /// Reads the result of the last call, or the one that was set.
  ///
  /// - Throws: ``InvocationError/resultNotAvailable`` before any call, after one that threw, and
  ///   for `v`; ``InvocationError/typeMismatch(index:expected:given:)`` if the result has another type;
  ///   another ``InvocationError`` if its bytes are no value of the type.
  @inlinable
  public func result<Value: CallValue>(
    as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    guard call.hasResult else { throw .resultNotAvailable }
    try call.check(type, call.resultSlot)
    return try unsafe Value.load(from: call.resultSlot)
  }

  /// Reads a result of any Swift type.
  ///
  /// - Throws: ``InvocationError/typeMismatch(index:expected:given:)`` if the result has another type;
  ///   ``InvocationError/resultNotAvailable`` if there is no result.
  public func result<Value>(
    as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    try call.answer(as: type, Place(of: type, isResult: true))
  }

  /// Reads an object result.
  ///
  /// - Throws: ``InvocationError/resultNotAvailable``, or
  ///   ``InvocationError/typeMismatch(index:expected:given:)`` if the result is not an object.
  public func resultObject() throws(InvocationError) -> AnyObject? {
    guard call.hasResult else { throw .resultNotAvailable }
    return try call.object(in: call.resultSlot)
  }

  /// The bytes of the result, exactly as many as its type has.
  ///
  /// - Throws: ``InvocationError/resultNotAvailable``, or
  ///   ``InvocationError/typeMismatch(index:expected:given:)`` for Swift text, which has no C bytes.
  public func resultBytes() throws(InvocationError) -> [UInt8] {
    guard call.hasResult else { throw .resultNotAvailable }
    try call.checkBytes(call.resultSlot, count: call.resultSlot.size)
    return call.resultSlot.bytes
  }

  /// Sets the result without a call.
  ///
  /// - Throws: ``InvocationError/typeMismatch(index:expected:given:)`` if `value` has another type;
  ///   ``InvocationError/embeddedNUL(offset:)`` for text with a NUL.
  public func setResult<Value: CallValue>(_ value: Value) throws(InvocationError) {
    try call.check(Value.self, call.resultSlot)
    try call.replaceResult(isOwned: Value.ownership != .none) { () throws(InvocationError) in
      try unsafe value.store(in: call.resultSlot)
    }
  }

  /// Sets a result of any Swift type.
  ///
  /// - Throws: ``InvocationError/typeMismatch(index:expected:given:)`` if the result has another type.
  @_disfavoredOverload
  public func setResult<Value>(_ value: Value) throws(InvocationError) {
    let place = try call.place(of: Value.self, call.resultSlot)
    try call.replaceResult(isOwned: place.ownership != .none) { () throws(InvocationError) in
      // SAFETY: the place was compared with the plan.
      try unsafe place.store(value, in: call.resultSlot)
    }
  }

  /// Sets an object result, or nil, and retains the object.
  ///
  /// - Throws: ``InvocationError/typeMismatch(index:expected:given:)`` if the result is not an object.
  public func setResult(_ object: AnyObject?) throws(InvocationError) {
    guard call.resultSlot.kind.isObject else {
      throw call.mismatch(call.resultSlot, given: object.map { type(of: $0) } ?? AnyObject?.self)
    }
    try call.replaceResult(isOwned: true) { call.resultSlot.word = OwnedWord(object).word }
  }

  /// Sets the result by its bytes, exactly as many as its type has.
  ///
  /// - Throws: ``InvocationError/wrongSize(expected:given:)`` if the number of bytes is wrong;
  ///   ``InvocationError/typeMismatch(index:expected:given:)`` for Swift text.
  /// - Safety: an object or C string is borrowed; see ``setArgument(bytes:at:)``.
  @unsafe
  public func setResult(bytes: [UInt8]) throws(InvocationError) {
    try call.checkBytes(call.resultSlot, count: bytes.count)
    guard call.returnsValue else { return }
    try call.replaceResult(isOwned: false) { unsafe call.resultSlot.store(bytes: bytes) }
    if argumentsRetained { call.keepResult() }
  }
}

extension Call {
  /// The object in a place.
  fileprivate func object(in slot: ValueSlot) throws(InvocationError) -> AnyObject? {
    guard slot.kind.isObject else { throw mismatch(slot, given: AnyObject?.self) }
    return slot.object
  }

  /// Sets an object. Nil also fits pointer places.
  fileprivate func setObject(
    _ object: AnyObject?, at index: Int, isOwned: Bool
  ) throws(InvocationError) {
    let slot = try checkedSlot(index)
    guard slot.kind.isObject || object == nil && slot.kind.isPointerLike else {
      throw mismatch(slot, given: object.map { type(of: $0) } ?? AnyObject?.self)
    }
    try replace(slot, index, isOwned: isOwned) {
      slot.word = OwnedWord(object, isOwned: isOwned).word
    }
  }

  /// Throws if a place cannot be read or set as this number of bytes: as Swift text cannot.
  fileprivate func checkBytes(_ slot: ValueSlot, count: Int) throws(InvocationError) {
    if slot.kind.isSwiftValue, swiftType(slot) == String.self {
      throw mismatch(slot, given: [UInt8].self)
    }
    guard count == slot.size else { throw .wrongSize(expected: slot.size, given: count) }
  }
}
