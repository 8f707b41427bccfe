public import CForwardingShims

/// An invocation that lives on the stack, for as long as a closure runs: a call that is recorded,
/// made and forgotten costs less than a stored closure.
///
/// ```swift
/// try plan.withInvocation { call in
///   try call.setArgument(Int32(2), at: 2)
///   try call.send(add, to: counter)
/// }
/// ```
///
/// It does what an ``Invocation`` does, but cannot be kept or copied.
@safe
@frozen
public struct ScopedInvocation: ~Copyable {
  // SAFETY: made by `withInvocation` alone, which lends it out, and keeps memory and plan meanwhile.
  @usableFromInline let record: CallRecord

  @inlinable
  init(_ record: CallRecord) { self.record = record }

  /// Sets an argument. `value` must be of the Swift type that the encoding names.
  @inlinable
  public func setArgument<Value: CallValue>(
    _ value: Value, at index: Int
  ) throws(InvocationError) {
    try record.setArgument(value, at: index)
  }

  /// Reads an argument. Never-set arguments read as zero.
  @inlinable
  public func argument<Value: CallValue>(
    at index: Int, as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    try record.argument(at: index, as: type)
  }

  /// Reads the result of the last call.
  @inlinable
  public func result<Value: CallValue>(
    as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    try record.result(as: type)
  }

  /// Calls the function at an address with the recorded arguments, receiver and selector included.
  ///
  /// - Parameter returnsRetained: whether an object result is the caller's to release.
  /// - Safety: the function's C type must be the one the signature describes.
  @inlinable @unsafe
  public func invoke(
    using function: UnsafeRawPointer?, returnsRetained: Bool = false
  ) throws(InvocationError) {
    guard let function = unsafe function else { throw .nullFunction }
    try unsafe record.call(function, returnsRetained: returnsRetained)
  }

  /// Calls a registered function or method with the recorded arguments, whatever its name.
  public func invoke(using implementation: Implementation) throws {
    try record.plan.check(implementation)
    try record.checkReceiver(of: implementation)
    try record.lendingTarget { try record.perform(implementation) }
  }

  /// Sends the message to an object, with all steps of forwarding; nil answers zero.
  public func send(_ selector: Selector, to target: AnyObject?) throws {
    try record.plan.check(selector)
    try record.checkSettable(0)
    try send(compared: selector, to: target)
  }

  /// Sends a message whose selector was compared with the plan before, and that nobody is sending.
  @usableFromInline
  package func send(compared selector: Selector, to target: AnyObject?) throws {
    record.setSelector(selector)
    let address = OwnedObject.address(of: target)
    guard let object = unsafe UnsafeRawPointer(bitPattern: UInt(address)) else {
      return record.answerZero()
    }
    // Argument 0 is replaced, whatever it was. The target must not be found there afterwards,
    // because only the caller holds it.
    if record.owned & 1 != 0 { record.releaseOwned(0) }
    record.slot(0).word = address
    defer { record.slot(0).word = 0 }
    let receiver = unsafe HeldObject(object)
    switch try record.performKnownMethod(of: receiver, UInt64(selector.word)) {
    case .performed: return
    case .asks(let table):
      if try unsafe forwardCall(table) { return }
      try unsafe sendAsking(table, receiver)
    case .unknown: try sendLookingUp()
    }
  }

  @unsafe
  @inline(never)
  private func sendAsking(_ table: Unmanaged<MethodTable>, _ receiver: HeldObject) throws {
    try sendByInvocation { try unsafe $0.ask(table, receiver) }
  }

  @inline(never)
  private func sendLookingUp() throws { try sendByInvocation { try $0.dispatch() } }

  /// Passes the call on through an object that needs no invocation for it; false if it needs one.
  @unsafe
  private func forwardCall(_ table: Unmanaged<MethodTable>) throws -> Bool {
    try unsafe table._withUnsafeGuaranteedRef { table in
      guard let steps = unsafe table.forwarding else { return false }
      return try unsafe steps._withUnsafeGuaranteedRef {
        guard $0.forwardsCalls else { return false }
        try $0.forward(record.receiver, LentCall(record))
        return true
      }
    }
  }

  /// Goes the long way: asks the object, which may want to see an invocation, or keep it.
  @inline(__always)
  private func sendByInvocation(_ dispatch: (Invocation) throws -> Void) throws {
    let record = record
    try record.replacingResult {
      try unsafe record.unmanagedPlan._withUnsafeGuaranteedRef { plan in
        try SpareInvocations.withOne(plan) { call in
          call.record.borrow(from: record)
          // An invocation that is kept must not have a target that nobody keeps.
          defer { call.record.slot(0).word = 0 }
          try dispatch(call)
          record.takeResult(of: call.record)
        }
      }
    }
  }

  /// Sets the arguments of a plan that was derived from their types, and so fits.
  @inlinable
  @inline(__always)
  package func setAll<Tuple>(_ layout: TupleLayout, _ tuple: Tuple) {
    layout.store(tuple, in: record)
  }

  /// Sets an argument of a plan that was derived from the types of its arguments, and so fits.
  @inlinable
  @inline(__always)
  package func setFitting<Value: CallValue>(
    _ value: Value, at index: Int
  ) throws(InvocationError) {
    let slot = record.slot(index)
    try unsafe value.store(in: slot)
    if slot.kind.isOwnable { record.setOwns(index, !slot.isNull && Value.ownership != .none) }
  }

  /// Reads the result like ``result(as:)``; a message without a result returns ``NoResult``.
  @inlinable
  public func answer<Value: CallValue>(
    as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    if record.returnsValue { return try record.result(as: type) }
    guard Value.valueKind.isNothing else { throw .resultNotAvailable }
    return try unsafe Value.load(from: record.resultSlot)
  }
}

extension CallPlan {
  /// Lends an invocation on the stack to `body`, with all arguments zero.
  @inlinable
  public func withInvocation<Result>(
    _ body: (borrowing ScopedInvocation) throws -> Result
  ) throws -> Result {
    guard recordSize <= MemoryLayout<FWDScopedFrame>.size else {
      return try withLargeInvocation(body)
    }
    // Aligned for every value that a frame may hold, which its type alone does not say.
    return try unsafe withUnsafeTemporaryAllocation(
      byteCount: MemoryLayout<FWDScopedFrame>.size, alignment: 16
    ) { memory in
      // SAFETY: room was asked for.
      let record = unsafe CallRecord(self, at: memory.baseAddress.unsafelyUnwrapped)
      defer { record.finish() }
      return try body(ScopedInvocation(record))
    }
  }

  @usableFromInline
  func withLargeInvocation<Result>(
    _ body: (borrowing ScopedInvocation) throws -> Result
  ) throws -> Result {
    let memory = unsafe fwd_block_take(recordSize)
    let record = unsafe CallRecord(self, at: memory)
    defer {
      record.finish()
      unsafe fwd_block_give(memory, recordSize)
    }
    return try body(ScopedInvocation(record))
  }
}

extension CallRecord {
  /// Takes the arguments and the selector of another record of the same plan; what that one owns,
  /// this one owns too.
  func borrow(from other: CallRecord) {
    unsafe copyFrame(from: other.frame)
    unsafe state.pointee.message = other.state.pointee.message
    setSelector(Selector(word: UInt(other.slot(1).word)))
    if other.owned != 0 || other.hasOwnedBeyond {
      for index in 0..<argumentCount where other.owns(index) { retain(index) }
    }
  }

  /// Takes over the result of another record of the same plan, with what is owned of it.
  func takeResult(of other: CallRecord) {
    guard other.hasResult else { return }
    unsafe copyResult(from: other.frame)
    resultOwnership = other.resultOwnership
    other.resultOwnership = .none
    hasResult = true
  }
}
