import CForwardingShims

extension Invocation {
  // MARK: Typed

  /// Sets an argument. `value` must be of the Swift type that the encoding names.
  ///
  /// A `String` is copied and an object retained, until they are replaced or the invocation dies.
  @inlinable
  public func setArgument<Value: CallValue>(
    _ value: Value, at index: Int
  ) throws(InvocationError) {
    try checkIndex(index)
    let slot = slot(index)
    if slot.kind != Value.valueKind || slot.kind.isAggregate {
      try checkArgument(Value.self, slot, index)
    }
    if slot.kind.isOwnable {
      try setOwnable(value, slot, index)
    } else {
      try value.store(in: slot)
    }
  }

  /// Sets an object, or nil, retained until it is replaced.
  public func setArgument(_ object: AnyObject?, at index: Int) throws(InvocationError) {
    try checkIndex(index)
    let slot = slot(index)
    guard slot.kind.isObject || (object == nil && slot.kind.isPointerLike) else {
      throw mismatch(index, given: object.map { "\(type(of: $0)) (@)" } ?? "nil")
    }
    let address = OwnedObject.address(of: object)
    OwnedObject.retain(address)
    replace(slot, index, word: address, owns: slot.kind.isObject && address != 0)
  }

  /// Sets an object without retaining it, as `NSInvocation` does before `retainArguments`.
  ///
  /// - Safety: the object must outlive every call and every read.
  @unsafe
  public func setArgument(unretained object: AnyObject?, at index: Int) throws(InvocationError) {
    try checkIndex(index)
    let slot = slot(index)
    guard slot.kind.isObject else {
      throw mismatch(index, given: object.map { "\(type(of: $0)) (@)" } ?? "nil")
    }
    replace(slot, index, word: OwnedObject.address(of: object), owns: false)
    if isRetaining(index) { retain(index) }
  }

  /// Sets an integer of any type if the argument's type can represent it exactly.
  public func setArgument<Value: BinaryInteger>(
    exactly value: Value, at index: Int
  ) throws(InvocationError) {
    try checkIndex(index)
    let slot = slot(index)
    guard try ExactNumber.store(value, in: slot, typeText(index)) else {
      throw mismatch(index, given: "the integer \(value)")
    }
  }

  /// Sets a floating-point number if the argument's type can represent it exactly.
  public func setArgument<Value: BinaryFloatingPoint>(
    exactly value: Value, at index: Int
  ) throws(InvocationError) {
    try checkIndex(index)
    let slot = slot(index)
    guard try ExactNumber.store(value, in: slot, typeText(index)) else {
      throw mismatch(index, given: "the number \(value)")
    }
  }

  /// Reads an argument. Never-set arguments read as zero.
  @inlinable
  public func argument<Value: CallValue>(
    at index: Int, as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    try checkIndex(index)
    let slot = slot(index)
    if slot.kind != Value.valueKind || slot.kind.isAggregate {
      try checkArgument(Value.self, slot, index)
    }
    return try Value.load(from: slot)
  }

  /// Reads an object argument.
  public func object(at index: Int) throws(InvocationError) -> AnyObject? {
    try checkIndex(index)
    let slot = slot(index)
    guard slot.kind.isObject else { throw mismatch(index, given: "an object") }
    return OwnedObject.object(at: slot.word)
  }

  // MARK: Raw

  /// The bytes of an argument, exactly as many as its type has.
  public func argumentBytes(at index: Int) throws(InvocationError) -> [UInt8] {
    try checkIndex(index)
    return unsafe FrameBytes.read(plan.slots + index, frame)
  }

  /// Sets an argument by its bytes, exactly as many as its type has.
  ///
  /// - Safety: an object or C string is borrowed: it must outlive every call, or
  ///   ``retainArguments(includingTarget:)`` must follow while it lives. A `:` must be the address
  ///   of a selector.
  @unsafe
  public func setArgument(bytes: [UInt8], at index: Int) throws(InvocationError) {
    try checkIndex(index)
    let slot = slot(index)
    guard bytes.count == slot.size else {
      throw .wrongSize(expected: slot.size, given: bytes.count)
    }
    if slot.kind.isOwnable, owns(index) { releaseOwned(index) }
    unsafe FrameBytes.write(bytes, plan.slots + index, frame)
    if isRetaining(index) { retain(index) }
  }

  // MARK: Steps

  /// Refuses a Swift type that does not fit. The answer for structures is kept in the plan.
  @usableFromInline
  func checkArgument<Value: CallValue>(
    _ type: Value.Type, _ slot: ValueSlot, _ index: Int
  ) throws(InvocationError) {
    guard plan.accepts(type, slot.kind, place: index + 1) else {
      throw mismatch(index, given: "\(Value.self) (\(Value.typeEncoding))")
    }
  }

  /// Sets a value that may own something, in a place whose old value may.
  @usableFromInline
  func setOwnable<Value: CallValue>(
    _ value: Value, _ slot: ValueSlot, _ index: Int
  ) throws(InvocationError) {
    // The old value stays until the new one is there: both may be the same object.
    let old = slot.word
    let owned = owns(index)
    try value.store(in: slot)
    let owns = Value.ownership != .none && !slot.isNull
    setOwns(index, owns)
    if owned { release(old, slot.kind) }
    if !owns, isRetaining(index) { retain(index) }
  }

  func replace(_ slot: ValueSlot, _ index: Int, word: UInt64, owns: Bool) {
    let old = slot.word
    let owned = self.owns(index)
    slot.word = word
    setOwns(index, owns)
    if owned { release(old, slot.kind) }
  }

  private func release(_ word: UInt64, _ kind: ValueKind) {
    if kind.isCString { OwnedCString.release(word) } else { OwnedObject.release(word) }
  }

  func typeText(_ index: Int) -> String { plan.typeText(place: index + 1) }

  func mismatch(_ index: Int, given: String) -> InvocationError {
    .argumentMismatch(index: index, expected: typeText(index), given: given)
  }
}
