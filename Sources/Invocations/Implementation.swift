import CForwardingShims
public import TypeEncodings

/// A frame that is being called with; valid during the call.
@safe
@usableFromInline
@frozen
struct FrameReference {
  @usableFromInline let base: UnsafeMutableRawPointer

  // SAFETY: made only where a call begins, from the frame of the plan that is called.
  @inlinable @unsafe
  init(_ base: UnsafeMutableRawPointer) { unsafe self.base = base }

  @inlinable
  func argument(_ index: Int, of plan: CallPlan) -> ValueSlot {
    unsafe ValueSlot(slot: plan.slots + index, frame: base, index: index)
  }

  @inlinable
  func result(of plan: CallPlan) -> ValueSlot {
    unsafe ValueSlot(slot: plan.result, frame: base, index: nil)
  }
}

/// What answers a message or a named function: C code at an address, or a Swift closure.
///
/// Immutable, so one implementation may be registered under several selectors, exchanged with
/// another, and called by many threads.
public final class Implementation: Sendable {
  /// Answers a call whose frame is at an address, and leaves the result there.
  @usableFromInline typealias Closure = @Sendable (FrameReference) throws -> Void

  /// C code.
  @safe
  struct NativeFunction: @unchecked Sendable {
    // SAFETY: code does not change; who registered it keeps it there.
    let address: UnsafeRawPointer
    /// Whether an object result is the caller's to release.
    let returnsRetained: Bool
  }

  /// The prepared call; dispatch compares it by identity.
  public let plan: CallPlan
  /// The C function; nil where `body` answers.
  let function: NativeFunction?
  /// The Swift body. Not optional, and not in an enumeration: taking it out would retain it.
  let body: Closure
  /// Kept as long as the implementation is: the library that holds the code.
  let keepAlive: (any Sendable)?

  @usableFromInline
  init(_ plan: CallPlan, _ body: @escaping Closure) {
    self.plan = plan
    self.body = body
    function = nil
    keepAlive = nil
  }

  /// Vouches for the C function at an address.
  ///
  /// - Safety: its C type must be the one that the plan's signature describes.
  @unsafe
  init(
    _ plan: CallPlan, function: UnsafeRawPointer?, returnsRetained: Bool,
    keepAlive: (any Sendable)? = nil
  ) throws(InvocationError) {
    guard let function = unsafe function else { throw .nullFunction }
    self.plan = plan
    self.function = unsafe NativeFunction(address: function, returnsRetained: returnsRetained)
    body = { _ in }
    self.keepAlive = keepAlive
  }

  /// The signature it answers.
  public var signature: MethodSignature { plan.signature }
}

extension Implementation {
  /// A method from a C function whose first parameters are the receiver and the selector.
  ///
  /// - Parameter returnsRetained: whether an object result is the caller's to release.
  /// - Safety: the function's C type must be the one that `encoding` describes.
  @unsafe
  public convenience init(
    methodEncoding encoding: String, unsafeFunction function: UnsafeRawPointer?,
    returnsRetained: Bool = false
  ) throws(InvocationError) {
    let signature = try InvocationError.wrapping { () throws(TypeEncodingError) in
      try MethodSignature(method: encoding)
    }
    unsafe try self.init(
      CallPlan.shared(for: signature), function: function, returnsRetained: returnsRetained)
  }

  /// A method from a Swift closure that takes the receiver, and no selector, in front of the
  /// arguments. The encoding is derived from its types.
  @inlinable
  public convenience init<Receiver: AnyObject, Value: CallValue, each Argument: CallValue>(
    method body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    let plan = try SwiftBody.methodPlan(
      result: Value.typeEncoding, repeat (each Argument).self)
    self.init(plan, SwiftBody.returning(plan, method: body))
  }

  /// A method without a result from a Swift closure that takes the receiver.
  @inlinable
  public convenience init<Receiver: AnyObject, each Argument: CallValue>(
    method body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Void
  ) throws(InvocationError) {
    let plan = try SwiftBody.methodPlan(result: "v", repeat (each Argument).self)
    self.init(plan, SwiftBody.void(plan, method: body))
  }

  /// A method of any signature, from a closure that gets the call as an invocation. What it sets
  /// as the result is given back; zero, if it sets none.
  public convenience init(
    _ signature: MethodSignature, invocation body: @escaping @Sendable (Invocation) throws -> Void
  ) throws(InvocationError) {
    let plan = try CallPlan.shared(for: signature)
    self.init(
      plan,
      { frame in
        let call = unsafe Invocation(plan, copying: frame.base)
        try body(call)
        unsafe call.giveResult(to: frame.base)
      })
  }
}
