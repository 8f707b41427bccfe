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
    guard hasResult else { throw .resultNotAvailable }
    let slot = resultSlot
    if slot.kind != Value.valueKind || slot.kind.isAggregate {
      try checkResult(Value.self, slot)
    }
    return try Value.load(from: slot)
  }

  /// Reads an object result.
  public func resultObject() throws(InvocationError) -> AnyObject? {
    guard hasResult else { throw .resultNotAvailable }
    guard resultSlot.kind.isObject else { throw resultMismatch("an object") }
    return OwnedObject.object(at: resultSlot.word)
  }

  /// The bytes of the result, exactly as many as its type has.
  public func resultBytes() throws(InvocationError) -> [UInt8] {
    guard hasResult else { throw .resultNotAvailable }
    return unsafe FrameBytes.read(plan.result, frame)
  }

  /// Copies the result into memory of its size; leaves the memory alone where the result is `v`.
  ///
  /// - Safety: `destination` must have room for `methodSignature.resultLength` bytes.
  @unsafe
  public func copyResult(into destination: UnsafeMutableRawPointer) throws(InvocationError) {
    if resultSlot.size == 0 { return }
    guard hasResult else { throw .resultNotAvailable }
    unsafe fwd_slot_load(plan.result, frame, destination, resultSlot.size)
  }

  /// Sets the result, which needs no call.
  public func setResult<Value: CallValue>(_ value: Value) throws(InvocationError) {
    let slot = resultSlot
    try checkResult(Value.self, slot)
    releaseResult()
    hasResult = false
    try value.store(in: slot)
    resultOwnership = slot.kind.isOwnable && !slot.isNull ? Value.ownership : .none
    hasResult = true
  }

  /// Sets an object result, or nil; it is retained.
  public func setResult(_ object: AnyObject?) throws(InvocationError) {
    let slot = resultSlot
    guard slot.kind.isObject else {
      throw resultMismatch(object.map { "\(type(of: $0))" } ?? "nil")
    }
    let address = OwnedObject.address(of: object)
    OwnedObject.retain(address)
    releaseResult()
    slot.word = address
    resultOwnership = address == 0 ? .none : .object
    hasResult = true
  }

  /// Sets the result by its bytes, exactly as many as its type has.
  ///
  /// - Safety: an object or C string is borrowed; see ``setArgument(bytes:at:)``.
  @unsafe
  public func setResult(bytes: [UInt8]) throws(InvocationError) {
    guard bytes.count == resultSlot.size else {
      throw .wrongSize(expected: resultSlot.size, given: bytes.count)
    }
    guard resultSlot.size > 0 else { return }
    releaseResult()
    unsafe FrameBytes.write(bytes, plan.result, frame)
    hasResult = true
    if argumentsRetained { keepResult() }
  }

  @usableFromInline
  func checkResult<Value: CallValue>(
    _ type: Value.Type, _ slot: ValueSlot
  ) throws(InvocationError) {
    guard plan.accepts(type, slot.kind, place: 0) else {
      throw resultMismatch("\(Value.self) (\(Value.typeEncoding))")
    }
  }

  func resultMismatch(_ given: String) -> InvocationError {
    .resultMismatch(expected: plan.typeText(place: 0), given: given)
  }
}
