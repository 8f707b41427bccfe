// SPDX-License-Identifier: Apache-2.0
/// An invocation on the stack, which lives while a closure runs. Recording, making and discarding a
/// call costs less than storing a closure.
///
/// ```swift
/// try plan.withInvocation { call in
///   try call.setArgument(Int32(50), at: 2)
///   try call.send("deposit:", to: account)
///   print(try call.result(as: Int32.self))  // 150
/// }
/// ```
///
/// It checks and owns the same values as an ``Invocation``, and has the most common of its methods.
/// It cannot be stored or copied.
@safe
@frozen
public struct ScopedInvocation: ~Copyable {
  // SAFETY: made only by `withInvocation`, which lends it, and keeps the memory and the plan alive.
  @usableFromInline let call: Call

  @inlinable
  init(_ call: Call) { self.call = call }

  /// Sets an argument. `value` must be of the Swift type that the encoding names.
  ///
  /// - Throws: The errors of `Invocation.setArgument(_:at:)`.
  @inlinable
  public func setArgument<Value: CallValue>(
    _ value: Value, at index: Int
  ) throws(InvocationError) {
    try call.setArgument(value, at: index)
  }

  /// Reads an argument. An argument that was never set is zero.
  ///
  /// - Throws: The errors of `Invocation.argument(at:as:)`.
  @inlinable
  public func argument<Value: CallValue>(
    at index: Int, as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    try call.argument(at: index, as: type)
  }

  /// Reads the result of the last call.
  ///
  /// - Throws: The errors of `Invocation.result(as:)`.
  @inlinable
  public func result<Value: CallValue>(
    as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    try call.result(as: type)
  }

  /// Calls the function at an address with the recorded arguments, including the receiver and the
  /// selector.
  ///
  /// - Parameters:
  ///   - function: the address of the function.
  ///   - returnsRetained: whether the caller must release an object that the function returns.
  /// - Throws: The errors of ``Invocation/invoke(using:returnsRetained:)``.
  /// - Safety: the signature must describe the function's C type.
  @inlinable @unsafe
  public func invoke(
    using function: UnsafeRawPointer?, returnsRetained: Bool = false
  ) throws(InvocationError) {
    try unsafe call.invoke(using: function, returnsRetained: returnsRetained)
  }

  /// Calls a registered function or method with the recorded arguments, whatever its name.
  ///
  /// - Throws: The errors of ``Invocation/invoke(using:)``.
  public func invoke(using implementation: Implementation) throws {
    try call.invoke(using: implementation)
  }

  /// Sends the message to an object, with all steps of forwarding. A message to nil has the result
  /// zero.
  ///
  /// - Throws: ``InvocationError`` if the selector does not fit the plan, or the object does not
  ///   take the message; or the error of the method.
  public func send(_ selector: Selector, to target: AnyObject?) throws {
    try call.plan.check(selector)
    try call.checkSettable(0)
    // Argument 0 is replaced. It is cleared after the send, because only the caller retains the
    // target.
    if call.owned & 1 != 0 { call.releaseOwned(0) }
    defer { call.receiverWord = 0 }
    try call.sendGuarded(compared: selector, to: target)
  }
}

extension CallPlan {
  /// Lends an invocation on the stack to `body`, with all arguments zero.
  ///
  /// - Throws: The error of `body`.
  @inlinable
  public func withInvocation<Result>(
    _ body: (borrowing ScopedInvocation) throws -> Result
  ) throws -> Result {
    // A large call is allocated on the heap. Aligned to 16 for every value that a frame may hold.
    try unsafe withUnsafeTemporaryAllocation(byteCount: callSize, alignment: 16) { memory in
      // SAFETY: this is the memory that the plan demands.
      let call = unsafe Call(self, at: memory.baseAddress.unsafelyUnwrapped)
      defer { call.finish() }
      return try body(ScopedInvocation(call))
    }
  }
}
