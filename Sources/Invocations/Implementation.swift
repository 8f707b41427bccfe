import CForwardingShims
public import TypeEncodings

/// A frame that is being called with; valid during the call.
@safe
@usableFromInline
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

  @usableFromInline
  enum Body: Sendable {
    /// C code, and whether its object result is the caller's to release.
    case native(NativeFunction, returnsRetained: Bool)
    case closure(Closure)
  }

  /// The address of C code.
  @safe
  @usableFromInline
  struct NativeFunction: @unchecked Sendable {
    // SAFETY: code does not change; who registered it keeps it there.
    let address: UnsafeRawPointer
  }

  /// The prepared call; dispatch compares it by identity.
  public let plan: CallPlan
  let body: Body
  /// Kept as long as the implementation is: the library that holds the code.
  let keepAlive: (any Sendable)?

  @usableFromInline
  init(_ plan: CallPlan, _ body: Body, keepAlive: (any Sendable)? = nil) {
    self.plan = plan
    self.body = body
    self.keepAlive = keepAlive
  }

  /// Vouches for the C function at an address.
  ///
  /// - Safety: its C type must be the one that the plan's signature describes.
  @unsafe
  convenience init(
    _ plan: CallPlan, function: UnsafeRawPointer?, returnsRetained: Bool,
    keepAlive: (any Sendable)? = nil
  ) throws(InvocationError) {
    guard let function = unsafe function else { throw .nullFunction }
    unsafe self.init(
      plan, .native(NativeFunction(address: function), returnsRetained: returnsRetained),
      keepAlive: keepAlive)
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
  public convenience init<Receiver: AnyObject, Value: CallValue, each Argument: CallValue>(
    method body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    let plan = try CallPlan.shared(
      for: SwiftBody.signature(
        result: Value.typeEncoding, hidden: "@:", repeat (each Argument).self))
    self.init(
      plan,
      .closure { frame in
        let receiver: Receiver = try SwiftBody.receiver(plan, frame)
        var cursor = ArgumentCursor(plan: plan, frame: frame, index: 2)
        let result = try body(receiver, repeat try cursor.next((each Argument).self))
        try result.store(in: frame.result(of: plan))
      })
  }

  /// A method without a result from a Swift closure that takes the receiver.
  public convenience init<Receiver: AnyObject, each Argument: CallValue>(
    method body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Void
  ) throws(InvocationError) {
    let plan = try CallPlan.shared(
      for: SwiftBody.signature(result: "v", hidden: "@:", repeat (each Argument).self))
    self.init(
      plan,
      .closure { frame in
        let receiver: Receiver = try SwiftBody.receiver(plan, frame)
        var cursor = ArgumentCursor(plan: plan, frame: frame, index: 2)
        try body(receiver, repeat try cursor.next((each Argument).self))
      })
  }

  /// A method of any signature, from a closure that gets the call as an invocation. What it sets
  /// as the result is given back; zero, if it sets none.
  public convenience init(
    _ signature: MethodSignature, invocation body: @escaping @Sendable (Invocation) throws -> Void
  ) throws(InvocationError) {
    let plan = try CallPlan.shared(for: signature)
    self.init(
      plan,
      .closure { frame in
        let call = unsafe Invocation(plan, copying: frame.base)
        try body(call)
        unsafe call.giveResult(to: frame.base)
      })
  }
}
