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
/// ```swift
/// let deposit = try Implementation { (account: Account, amount: Int32) in account.balance += amount }
/// deposit.signature  // v@:i
/// try MethodTable.of(Account.self).register("deposit:", deposit)
/// ```
///
/// Immutable, so one implementation may be registered under several selectors, exchanged with
/// another, and called by many threads.
public final class Implementation: Sendable {
  /// Answers a call whose frame is at an address, and leaves the result there.
  @usableFromInline typealias Closure = @Sendable (FrameReference) throws -> Void

  /// Answers a call that is awaited, and leaves the result in it. It runs where its caller does.
  package typealias AwaitedClosure =
    nonisolated(nonsending) @Sendable (Invocation) async throws -> Void

  /// C code.
  @safe
  struct NativeFunction: @unchecked Sendable {
    // SAFETY: code does not change; the one who registered it keeps it there.
    let address: UnsafeRawPointer
    /// Whether an object result is the caller's to release.
    let returnsRetained: Bool
  }

  /// The prepared call; dispatch compares it by identity.
  public let plan: CallPlan
  /// The class whose objects it may be called with; nil if any object, or none, will do.
  public let receiver: AnyClass?
  /// The C function; nil where `body` answers.
  let function: NativeFunction?
  /// The Swift body. Not optional, and not in an enumeration: taking it out would retain it.
  let body: Closure
  /// What answers those who await the result; nil where `body` or the function does.
  let awaitedBody: AwaitedClosure?
  /// Whether the caller of the body owns an object or C string that it leaves as the result.
  let ownsResult: Bool
  /// Kept as long as the implementation is: the library that holds the code.
  let keepAlive: (any Sendable)?
  /// What answers messages that want no result, where that is another body.
  let withoutResult: Implementation?
  /// Whether a face made it. Set before anything else has it.
  private nonisolated(unsafe) var isMadeByFace = false

  var isOfFace: Bool { unsafe isMadeByFace }

  /// This one, which a face has just made.
  package var markedAsOfFace: Implementation {
    unsafe isMadeByFace = true
    return self
  }

  /// A Swift body for a plan that fits its types.
  @usableFromInline
  init<Value, each Argument>(
    _ fitted: FittedPlan<Value, repeat each Argument>, receiver: Any.Type? = nil,
    withoutResult: Implementation? = nil, _ body: @escaping Closure
  ) {
    awaitedBody = nil
    plan = fitted.plan
    // The type of a protocol is no class.
    self.receiver = receiver as? AnyClass
    self.body = body
    // A pointer that stands for a C string is not given away.
    ownsResult = fitted.result.ownership != .none
    function = nil
    keepAlive = nil
    self.withoutResult = withoutResult
  }

  /// A body for those who await the result, and one for those who do not.
  init<Value, each Argument>(
    _ fitted: FittedPlan<Value, repeat each Argument>, receiver: Any.Type?,
    withoutResult: Implementation?, awaited: @escaping AwaitedClosure, _ body: @escaping Closure
  ) {
    plan = fitted.plan
    self.receiver = receiver as? AnyClass
    self.body = body
    awaitedBody = awaited
    ownsResult = fitted.result.ownership != .none
    function = nil
    keepAlive = nil
    self.withoutResult = withoutResult
  }

  /// Another body in place of a Swift one, and another one for those who await, if there is one.
  init(
    _ other: Implementation, awaited: AwaitedClosure? = nil, _ body: @escaping Closure
  ) {
    plan = other.plan
    receiver = other.receiver
    self.body = body
    awaitedBody = awaited ?? other.awaitedBody
    ownsResult = other.ownsResult
    function = nil
    keepAlive = other.keepAlive
    withoutResult = other.withoutResult
  }

  /// A body that gets each call as an invocation, and so looks at the types itself.
  package init(
    _ plan: CallPlan, invocation body: @escaping @Sendable (Invocation) throws -> Void
  ) {
    self.plan = plan
    self.body = { frame in try SpareInvocations.answer(frame, of: plan, with: body) }
    ownsResult = true
    awaitedBody = nil
    receiver = nil
    function = nil
    keepAlive = nil
    withoutResult = nil
  }

  /// Vouches for the C function at an address.
  ///
  /// - Safety: its C type must be the one that the plan's signature describes, and it must take any
  ///   object of the class as its receiver.
  @unsafe
  init(
    _ plan: CallPlan, function: UnsafeRawPointer?, returnsRetained: Bool,
    receiver: AnyClass? = nil, keepAlive: (any Sendable)? = nil
  ) throws(InvocationError) {
    guard let function = unsafe function else { throw .nullFunction }
    self.plan = plan
    self.receiver = receiver
    self.function = unsafe NativeFunction(address: function, returnsRetained: returnsRetained)
    body = { _ in }
    awaitedBody = nil
    ownsResult = false
    self.keepAlive = keepAlive
    withoutResult = nil
  }

  /// The signature it answers.
  public var signature: MethodSignature { plan.signature }

  /// The implementation that answers calls of a plan: this one, or its twin without a result; nil if the
  /// types differ.
  func answering(_ plan: CallPlan) -> Implementation? {
    if plan.isInterchangeable(with: self.plan) { return self }
    if plan.differsInText(from: self.plan) { return Implementation(translating: self, for: plan) }
    return withoutResult?.answering(plan)
  }

  /// Whether a C function may be called with objects of a class. A Swift body looks for itself.
  func takes(_ type: AnyClass) -> Bool {
    guard function != nil, let receiver else { return true }
    return isClass(type, below: receiver)
  }
}

/// Whether a class is another one, or below it.
func isClass(_ type: AnyClass, below other: AnyClass) -> Bool {
  var current: AnyClass? = type
  while let type = current {
    if type == other { return true }
    current = _getSuperclass(type)
  }
  return false
}

extension Implementation {
  /// A method from a C function whose first parameters are the receiver and the selector.
  ///
  /// - Parameters:
  ///   - receiver: the class whose objects the function takes; objects of other classes are refused.
  ///   - returnsRetained: whether an object result is the caller's to release.
  /// - Safety: the function's C type must be the one that `encoding` describes. Without a `receiver`
  ///   it must take any object: the implementation may be added to any class.
  @unsafe
  public convenience init(
    methodEncoding encoding: String, unsafeFunction function: UnsafeRawPointer?,
    receiver: AnyClass? = nil, returnsRetained: Bool = false
  ) throws(InvocationError) {
    let signature = try InvocationError.wrapping { () throws(TypeEncodingError) in
      try MethodSignature(method: encoding)
    }
    unsafe try self.init(
      CallPlan.shared(for: signature), function: function, returnsRetained: returnsRetained,
      receiver: receiver)
  }

  /// A method from a closure that takes the arguments alone.
  @usableFromInline
  package static func withoutReceiver<Value: CallValue, each Argument: CallValue>(
    encoding: String?, _ body: @escaping @Sendable (repeat each Argument) throws -> Value
  ) throws(InvocationError) -> Implementation {
    let fitted = try FittedPlan<Value, repeat each Argument>(method: encoding)
    return Implementation(fitted, SwiftBody.returning(fitted, body))
  }

  /// The same without a result.
  @usableFromInline
  package static func withoutReceiver<each Argument: CallValue>(
    encoding: String?, _ body: @escaping @Sendable (repeat each Argument) throws -> Void
  ) throws(InvocationError) -> Implementation {
    let fitted = try FittedPlan<NoResult, repeat each Argument>(method: encoding)
    return Implementation(fitted, SwiftBody.void(fitted, body))
  }

  /// A method of any signature, from a closure that gets the call as an invocation. The sender gets
  /// the result that it sets; zero, if it sets none.
  ///
  /// The arguments are the sender's. If the closure keeps the invocation, objects and C strings are
  /// kept with it; what a pointer points at is not.
  public convenience init(
    _ signature: MethodSignature, invocation body: @escaping @Sendable (Invocation) throws -> Void
  ) throws(InvocationError) {
    self.init(try CallPlan.shared(for: signature), invocation: body)
  }
}
