// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

extension Invocation {
  // MARK: Typed

  /// Sets an argument. `value` must be of the Swift type that the encoding names.
  ///
  /// A `String` is copied and an object retained, until they are replaced or the invocation dies.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/argumentMismatch(index:expected:given:)`` if `value` has another type;
  ///   ``InvocationError/embeddedNUL(offset:)`` for text with a NUL;
  ///   ``InvocationError/argumentInUse(index:)`` or ``InvocationError/targetInUse`` while a call
  ///   uses the old value.
  @inlinable
  public func setArgument<Value: CallValue>(
    _ value: Value, at index: Int
  ) throws(InvocationError) {
    guard Value.memoryWord != nil else {
      return try call.setArgument(value, at: index)
    }
    // The usual case: a number in a place of the same kind.
    guard UInt(bitPattern: index) < UInt(bitPattern: argumentCount),
      unsafe slots[index].kind == Value.valueKind.raw
    else { return try setUnusual(value, at: index) }
    try unsafe value.store(
      in: ValueSlot(slot: slots + index, frame: call.frame, index: index))
  }

  /// Sets a number in a place of another kind that takes it, or throws.
  @usableFromInline
  func setUnusual<Value: CallValue>(_ value: Value, at index: Int) throws(InvocationError) {
    try call.setArgument(value, at: index)
  }

  /// Sets an object, or nil, and retains it until it is replaced. Nil also fits pointer places.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/argumentMismatch(index:expected:given:)`` if the argument is not an
  ///   object; ``InvocationError/argumentInUse(index:)`` or ``InvocationError/targetInUse`` while a
  ///   call uses the old value.
  public func setArgument(_ object: AnyObject?, at index: Int) throws(InvocationError) {
    try call.checkIndex(index)
    let slot = call.slot(index)
    guard slot.kind.isObject || (object == nil && slot.kind.isPointerLike) else {
      throw call.mismatch(index, given: object.map { type(of: $0) } ?? AnyObject?.self)
    }
    try call.checkSettable(index)
    call.replace(slot, index, with: OwnedWord(object))
  }

  /// Sets an object without retaining it, as `NSInvocation` does before `retainArguments`.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/argumentMismatch(index:expected:given:)`` if the argument is not an
  ///   object; ``InvocationError/argumentInUse(index:)`` or ``InvocationError/targetInUse`` while a
  ///   call uses the old value.
  /// - Safety: the object must outlive every call and every read.
  @unsafe
  public func setArgument(unretained object: AnyObject?, at index: Int) throws(InvocationError) {
    try call.checkIndex(index)
    let slot = call.slot(index)
    guard slot.kind.isObject else {
      throw call.mismatch(index, given: object.map { type(of: $0) } ?? AnyObject?.self)
    }
    try call.checkSettable(index)
    call.replace(slot, index, with: OwnedWord(object, isOwned: call.isRetaining(index)))
  }

  /// Sets an integer of any type if the argument's type can represent it exactly.
  ///
  /// - Throws: ``InvocationError/notExact(value:type:)`` if it cannot;
  ///   ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/argumentMismatch(index:expected:given:)`` if the argument is not a number.
  public func setArgument<Value: BinaryInteger>(
    exactly value: Value, at index: Int
  ) throws(InvocationError) {
    try call.checkIndex(index)
    let slot = call.slot(index)
    guard try ExactNumber.store(value, in: slot, plan.type(ofPlace: index + 1)) else {
      throw call.mismatch(index, given: Value.self)
    }
  }

  /// Sets a floating-point number if the argument's type can represent it exactly.
  ///
  /// - Throws: ``InvocationError/notExact(value:type:)`` if it cannot;
  ///   ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/argumentMismatch(index:expected:given:)`` if the argument is not a number.
  public func setArgument<Value: BinaryFloatingPoint>(
    exactly value: Value, at index: Int
  ) throws(InvocationError) {
    try call.checkIndex(index)
    let slot = call.slot(index)
    guard try ExactNumber.store(value, in: slot, plan.type(ofPlace: index + 1)) else {
      throw call.mismatch(index, given: Value.self)
    }
  }

  /// Reads an argument. An argument that was never set is zero.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/argumentMismatch(index:expected:given:)`` if the argument has another
  ///   type; another ``InvocationError`` if its bytes are no value of the type.
  @inlinable
  public func argument<Value: CallValue>(
    at index: Int, as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    try call.argument(at: index, as: type)
  }

  /// Reads an object argument.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/argumentMismatch(index:expected:given:)`` if the argument is not an
  ///   object.
  public func object(at index: Int) throws(InvocationError) -> AnyObject? {
    try call.checkIndex(index)
    let slot = call.slot(index)
    guard slot.kind.isObject else { throw call.mismatch(index, given: AnyObject.self) }
    return slot.object
  }

  // MARK: Raw

  /// The bytes of an argument, exactly as many as its type has.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/argumentMismatch(index:expected:given:)`` for Swift text, as in a message
  ///   of a `String`, which has no C bytes.
  public func argumentBytes(at index: Int) throws(InvocationError) -> [UInt8] {
    try call.checkIndex(index)
    try call.refuseSwiftText(call.slot(index))
    return call.slot(index).bytes
  }

  /// Sets an argument by its bytes, exactly as many as its type has.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)``;
  ///   ``InvocationError/argumentMismatch(index:expected:given:)`` for Swift text;
  ///   ``InvocationError/wrongSize(expected:given:)`` if the number of bytes is wrong;
  ///   ``InvocationError/argumentInUse(index:)`` or ``InvocationError/targetInUse`` while a call
  ///   uses the old value.
  /// - Safety: an object or C string is borrowed. It must outlive every call, or
  ///   ``retainArguments(includingTarget:)`` must follow while it lives. A `:` must be the address
  ///   of a selector.
  @unsafe
  public func setArgument(bytes: [UInt8], at index: Int) throws(InvocationError) {
    try call.checkIndex(index)
    let slot = call.slot(index)
    try call.refuseSwiftText(slot)
    guard bytes.count == slot.size else {
      throw .wrongSize(expected: slot.size, given: bytes.count)
    }
    if slot.kind.isOwnable { try call.checkSettable(index) }
    guard slot.kind.isOwnable else {
      return unsafe slot.store(bytes: bytes)
    }
    let old = call.detachArgument(index)
    unsafe slot.store(bytes: bytes)
    if call.isRetaining(index) { call.retain(index) }
    call.letGo(old)
  }
}
