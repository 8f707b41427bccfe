// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

extension Invocation {
  /// Reads the result of the last call, or the one that was set.
  ///
  /// - Throws: ``InvocationError/resultNotAvailable`` before any call, after one that threw, and
  ///   for `v`; ``InvocationError/resultMismatch(expected:given:)`` if the result has another type;
  ///   another ``InvocationError`` if its bytes are no value of the type.
  @inlinable
  public func result<Value: CallValue>(
    as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    try call.result(as: type)
  }

  /// Reads an object result.
  ///
  /// - Throws: ``InvocationError/resultNotAvailable``, or
  ///   ``InvocationError/resultMismatch(expected:given:)`` if the result is not an object.
  public func resultObject() throws(InvocationError) -> AnyObject? {
    guard call.hasResult else { throw .resultNotAvailable }
    guard call.resultSlot.kind.isObject else {
      throw call.resultMismatch(given: AnyObject?.self)
    }
    return call.resultSlot.object
  }

  /// The bytes of the result, exactly as many as its type has.
  ///
  /// - Throws: ``InvocationError/resultNotAvailable``, or
  ///   ``InvocationError/resultMismatch(expected:given:)`` for Swift text, which has no C bytes.
  public func resultBytes() throws(InvocationError) -> [UInt8] {
    guard call.hasResult else { throw .resultNotAvailable }
    try call.refuseSwiftText(call.resultSlot)
    return call.resultSlot.bytes
  }

  /// Copies the result into memory of its size. Does nothing if the result is `v`.
  ///
  /// - Throws: ``InvocationError/resultNotAvailable``, or
  ///   ``InvocationError/resultMismatch(expected:given:)`` for Swift text, which has no C bytes.
  /// - Safety: `destination` must have room for `methodSignature.resultLength` bytes.
  @unsafe
  public func copyResult(into destination: UnsafeMutableRawPointer) throws(InvocationError) {
    if call.resultSlot.size == 0 { return }
    guard call.hasResult else { throw .resultNotAvailable }
    try call.refuseSwiftText(call.resultSlot)
    unsafe fwd_slot_load(plan.result, call.frame, destination, call.resultSlot.size)
  }

  /// Sets the result without a call.
  ///
  /// - Throws: ``InvocationError/resultMismatch(expected:given:)`` if `value` has another type;
  ///   ``InvocationError/embeddedNUL(offset:)`` for text with a NUL.
  public func setResult<Value: CallValue>(_ value: Value) throws(InvocationError) {
    let slot = call.resultSlot
    try call.checkResult(Value.self, slot)
    let old = call.detachResult()
    defer { call.letGo(old) }
    call.clearResult()
    let isOwned = slot.kind.isOwnable && Value.ownership != .none
    try unsafe value.store(in: slot)
    // Storing may run code of the value's type, which may set a result too.
    let replaced = call.detachReplaced()
    defer { call.letGo(replaced) }
    call.resultOwnership = isOwned && !slot.isNull ? slot.kind.ownership : .none
    call.hasResult = true
  }

  /// Sets an object result, or nil, and retains the object.
  ///
  /// - Throws: ``InvocationError/resultMismatch(expected:given:)`` if the result is not an object.
  public func setResult(_ object: AnyObject?) throws(InvocationError) {
    let slot = call.resultSlot
    guard slot.kind.isObject else {
      throw call.resultMismatch(given: object.map { type(of: $0) } ?? AnyObject?.self)
    }
    let new = OwnedWord(object)
    let old = call.detachResult()
    slot.word = new.word
    call.resultOwnership = new.ownership
    call.hasResult = true
    call.letGo(old)
  }

  /// Sets the result by its bytes, exactly as many as its type has.
  ///
  /// - Throws: ``InvocationError/wrongSize(expected:given:)`` if the number of bytes is wrong;
  ///   ``InvocationError/resultMismatch(expected:given:)`` for Swift text.
  /// - Safety: an object or C string is borrowed; see ``setArgument(bytes:at:)``.
  @unsafe
  public func setResult(bytes: [UInt8]) throws(InvocationError) {
    guard bytes.count == call.resultSlot.size else {
      throw .wrongSize(expected: call.resultSlot.size, given: bytes.count)
    }
    guard call.returnsValue else { return }
    try call.refuseSwiftText(call.resultSlot)
    let old = call.detachResult()
    unsafe call.resultSlot.store(bytes: bytes)
    call.hasResult = true
    if argumentsRetained { call.keepResult() }
    call.letGo(old)
  }
}
