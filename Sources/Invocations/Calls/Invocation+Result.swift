import CForwardingShims

extension Invocation {
  /// Reads the result of the last call, or the one that was set.
  ///
  /// Throws ``InvocationError/resultNotAvailable`` before any call, after one that threw, and
  /// for `v`.
  @inlinable
  public func result<Value: CallValue>(
    as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    try record.result(as: type)
  }

  /// Reads an object result.
  public func resultObject() throws(InvocationError) -> AnyObject? {
    guard record.hasResult else { throw .resultNotAvailable }
    guard record.resultSlot.kind.isObject else {
      throw record.resultMismatch(given: AnyObject?.self)
    }
    return OwnedObject.object(at: record.resultSlot.word)
  }

  /// The bytes of the result, exactly as many as its type has.
  public func resultBytes() throws(InvocationError) -> [UInt8] {
    guard record.hasResult else { throw .resultNotAvailable }
    return unsafe FrameBytes.read(plan.result, record.frame)
  }

  /// Copies the result into memory of its size; leaves the memory alone where the result is `v`.
  ///
  /// - Safety: `destination` must have room for `methodSignature.resultLength` bytes.
  @unsafe
  public func copyResult(into destination: UnsafeMutableRawPointer) throws(InvocationError) {
    if record.resultSlot.size == 0 { return }
    guard record.hasResult else { throw .resultNotAvailable }
    unsafe fwd_slot_load(plan.result, record.frame, destination, record.resultSlot.size)
  }

  /// Sets the result, which needs no call.
  public func setResult<Value: CallValue>(_ value: Value) throws(InvocationError) {
    let slot = record.resultSlot
    try record.checkResult(Value.self, slot)
    let old = record.takeResult()
    defer { record.letGo(old) }
    record.clearResult()
    // Storing may run code of the value's type, which may set a result as well.
    let isOwned = slot.kind.isOwnable && Value.ownership != .none
    try unsafe value.store(in: slot)
    record.resultOwnership = isOwned && !slot.isNull ? Value.ownership : .none
    record.hasResult = true
  }

  /// Sets an object result, or nil; it is retained.
  public func setResult(_ object: AnyObject?) throws(InvocationError) {
    let slot = record.resultSlot
    guard slot.kind.isObject else {
      throw record.resultMismatch(given: object.map { type(of: $0) } ?? AnyObject?.self)
    }
    let address = OwnedObject.address(of: object)
    OwnedObject.retain(address)
    let old = record.takeResult()
    slot.word = address
    record.resultOwnership = address == 0 ? .none : .object
    record.hasResult = true
    record.letGo(old)
  }

  /// Sets the result by its bytes, exactly as many as its type has.
  ///
  /// - Safety: an object or C string is borrowed; see ``setArgument(bytes:at:)``.
  @unsafe
  public func setResult(bytes: [UInt8]) throws(InvocationError) {
    guard bytes.count == record.resultSlot.size else {
      throw .wrongSize(expected: record.resultSlot.size, given: bytes.count)
    }
    guard record.resultSlot.size > 0 else { return }
    let old = record.takeResult()
    unsafe FrameBytes.write(bytes, plan.result, record.frame)
    record.hasResult = true
    if argumentsRetained { record.keepResult() }
    record.letGo(old)
  }
}
