public import CForwardingShims

/// An invocation that lives on the stack, for as long as a closure runs: a call that is recorded,
/// made and forgotten costs less than a stored closure.
///
/// ```swift
/// try plan.withInvocation { call in
///   try call.setArgument(Int32(50), at: 2)
///   try call.send("deposit:", to: account)
///   print(try call.result(as: Int32.self))  // 150
/// }
/// ```
///
/// It checks and owns what an ``Invocation`` does, and has the most common of its methods; it cannot be
/// kept or copied.
@safe
@frozen
public struct ScopedInvocation: ~Copyable {
  // SAFETY: made by `withInvocation` alone, which lends it out, and keeps memory and plan meanwhile.
  @usableFromInline let call: Call

  @inlinable
  init(_ call: Call) { self.call = call }

  /// Sets an argument. `value` must be of the Swift type that the encoding names.
  @inlinable
  public func setArgument<Value: CallValue>(
    _ value: Value, at index: Int
  ) throws(InvocationError) {
    try call.setArgument(value, at: index)
  }

  /// Reads an argument. Never-set arguments read as zero.
  @inlinable
  public func argument<Value: CallValue>(
    at index: Int, as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    try call.argument(at: index, as: type)
  }

  /// Reads the result of the last call.
  @inlinable
  public func result<Value: CallValue>(
    as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    try call.result(as: type)
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
    guard unsafe call.facts.pointee.has_swift_text == 0 else {
      return try unsafe call.callFunctionTranslating(
        at: function, returnsRetained: returnsRetained)
    }
    try unsafe call.callFunction(at: function, returnsRetained: returnsRetained)
  }

  /// Calls a registered function or method with the recorded arguments, whatever its name.
  public func invoke(using implementation: Implementation) throws {
    let implementation = try call.plan.check(implementation)
    try call.checkReceiver(of: implementation)
    try call.lendingTarget { try call.perform(implementation) }
  }

  /// Sends the message to an object, with all steps of forwarding; nil answers zero.
  public func send(_ selector: Selector, to target: AnyObject?) throws {
    try call.plan.check(selector)
    try call.checkSettable(0)
    // Argument 0 is replaced, whatever it was. The target must not be found there afterwards,
    // because only the caller holds it.
    if call.owned & 1 != 0 { call.releaseOwned(0) }
    defer { call.receiverWord = 0 }
    try call.sendGuarded(compared: selector, to: target)
  }

  /// Reads the result like ``result(as:)``; a message without a result returns ``NoResult``.
  @inlinable
  public func answer<Value: CallValue>(
    as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    if call.returnsValue { return try call.result(as: type) }
    guard Value.valueKind.isNothing else { throw .resultNotAvailable }
    return try unsafe Value.load(from: call.resultSlot)
  }
}

extension CallPlan {
  /// Lends an invocation on the stack to `body`, with all arguments zero.
  @inlinable
  public func withInvocation<Result>(
    _ body: (borrowing ScopedInvocation) throws -> Result
  ) throws -> Result {
    guard callSize <= MemoryLayout<FWDScopedFrame>.size else {
      return try withLargeInvocation(body)
    }
    // Aligned for every value that a frame may hold, which its type alone does not say.
    return try unsafe withUnsafeTemporaryAllocation(
      byteCount: MemoryLayout<FWDScopedFrame>.size, alignment: 16
    ) { memory in
      // SAFETY: room was asked for.
      let call = unsafe Call(self, at: memory.baseAddress.unsafelyUnwrapped)
      defer { call.finish() }
      return try body(ScopedInvocation(call))
    }
  }

  @usableFromInline
  func withLargeInvocation<Result>(
    _ body: (borrowing ScopedInvocation) throws -> Result
  ) throws -> Result {
    let memory = unsafe fwd_block_take(callSize)
    let call = unsafe Call(self, at: memory)
    defer {
      call.finish()
      unsafe fwd_block_give(memory, callSize)
    }
    return try body(ScopedInvocation(call))
  }
}
