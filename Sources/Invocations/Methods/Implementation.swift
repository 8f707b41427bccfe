// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
public import TypeEncodings

/// The frame of a running call, valid during the call.
@safe
@usableFromInline
@frozen
struct FrameReference {
  @usableFromInline let base: UnsafeMutableRawPointer

  // SAFETY: made only where a call begins, from a frame of the called plan.
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

/// The implementation of a message or a named function: C code at an address, or a Swift closure.
///
/// ```swift
/// let deposit = try Implementation { (account: Account, amount: Int32) in account.balance += amount }
/// deposit.signature  // v@:i
/// try MethodTable.of(Account.self).register("deposit:", deposit)
/// ```
///
/// Immutable, so one implementation can be registered under several selectors, exchanged with
/// another, and called on many threads.
public final class Implementation: Sendable {
  /// Runs a call, given its frame, and stores the result there.
  @usableFromInline typealias Closure = @Sendable (FrameReference) throws -> Void

  /// Runs an awaited call in its caller's isolation, and stores the result in it.
  @usableFromInline package typealias AwaitedClosure =
    nonisolated(nonsending) @Sendable (Invocation) async throws -> Void

  /// A C function.
  @safe
  struct NativeFunction: @unchecked Sendable {
    // SAFETY: code does not change, and the code that registered it keeps it loaded.
    let address: UnsafeRawPointer
    /// Whether the caller must release an object that the function returns.
    let returnsRetained: Bool
  }

  /// The prepared call. Dispatch compares it by identity.
  public let plan: CallPlan
  /// The class that receivers must belong to; nil if any receiver, or none, is valid.
  public let receiver: AnyClass?
  /// The C function; nil if `body` is called.
  let function: NativeFunction?
  /// The Swift body. Not optional, and not in an enumeration, because unwrapping it would retain
  /// it.
  let body: Closure
  /// The body for senders that await; nil if they call `body` or the function too.
  let awaitedBody: AwaitedClosure?
  /// Whether the caller of the body owns an object or C string that the body stores as the result.
  let ownsResult: Bool
  /// An object that lives as long as the implementation: the library that contains the code.
  let keepAlive: (any Sendable)?
  /// The variant for messages without a result, if it has another body.
  let withoutResult: Implementation?
  /// The method that a proxy made for a requirement of another protocol, with the same selector and
  /// other types; nil for nearly all methods.
  let otherTypes: Implementation?
  /// Whether a proxy made it. Set before the implementation is shared.
  private nonisolated(unsafe) var isMadeByProxy = false

  /// Whether its class may leave it out, so that it stands for a default implementation.
  private nonisolated(unsafe) var isOfOptional = false

  var isGenerated: Bool { unsafe isMadeByProxy }
  package var isOptional: Bool { unsafe isOfOptional }

  /// Makes a method of a proxy that answers other types, too.
  init(_ first: Implementation, besides other: Implementation) {
    plan = first.plan
    receiver = first.receiver
    body = first.body
    awaitedBody = first.awaitedBody
    ownsResult = first.ownsResult
    function = first.function
    keepAlive = first.keepAlive
    withoutResult = first.withoutResult
    otherTypes = first.otherTypes.map { Implementation($0, besides: other) } ?? other
    unsafe isMadeByProxy = true
    unsafe isOfOptional = first.isOptional
  }

  /// Marks a new implementation as made by a proxy, and returns it.
  package func markedAsOfProxy(isOptional: Bool) -> Implementation {
    unsafe isMadeByProxy = true
    unsafe isOfOptional = isOptional
    return self
  }

  /// Makes an implementation from a Swift body and a plan that fits its types.
  ///
  /// - Parameter awaited: the body for senders that await, if it is another.
  @usableFromInline
  init<Value, each Argument>(
    _ fitted: FittedPlan<Value, repeat each Argument>, receiver: Any.Type? = nil,
    withoutResult: Implementation? = nil, awaited: AwaitedClosure? = nil, _ body: @escaping Closure
  ) {
    plan = fitted.plan
    // A protocol type is not a class.
    self.receiver = receiver as? AnyClass
    self.body = body
    awaitedBody = awaited
    // A pointer in the place of a C string is not handed over.
    ownsResult = fitted.result.ownership != .none
    function = nil
    keepAlive = nil
    self.withoutResult = withoutResult
    otherTypes = nil
  }

  /// Makes a copy with another Swift body and, if `awaited` is given, another body for senders that
  /// await.
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
    otherTypes = other.otherTypes
  }

  /// Makes an implementation from a closure that gets each call as an invocation, whose accessors
  /// check the types.
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
    otherTypes = nil
  }

  /// Makes an implementation from the C function at an address.
  ///
  /// - Throws: ``InvocationError/nullFunction``.
  /// - Safety: the plan's signature must describe its C type, and it must take any object of the
  ///   class as its receiver.
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
    otherTypes = nil
  }

  /// The signature of the calls that it takes.
  public var signature: MethodSignature { plan.signature }

  /// The implementation that answers calls of a plan: this one, whose text ``Call/perform(_:)``
  /// translates, its variant without a result, or the one for other types. Returns nil if the types
  /// differ.
  func answering(_ plan: CallPlan) -> Implementation? {
    if plan.isInterchangeable(with: self.plan) || plan.differsInText(from: self.plan) {
      return self
    }
    return withoutResult?.answering(plan) ?? otherTypes?.answering(plan)
  }

  /// Whether a C function may be called with objects of a class. Swift bodies check the class
  /// themselves.
  func takes(_ type: AnyClass) -> Bool {
    guard function != nil, let receiver else { return true }
    return isClass(type, below: receiver)
  }
}

/// Whether a class equals another one, or is a subclass of it.
func isClass(_ type: AnyClass, below other: AnyClass) -> Bool {
  var current: AnyClass? = type
  while let type = current {
    if type == other { return true }
    current = _getSuperclass(type)
  }
  return false
}

extension Implementation {
  /// Makes a method from a C function whose first parameters are the receiver and the selector.
  ///
  /// - Parameters:
  ///   - receiver: the class that receivers must belong to; other objects are refused.
  ///   - returnsRetained: whether the caller must release an object that the function returns.
  /// - Throws: ``InvocationError/encoding(_:)`` if the encoding is invalid;
  ///   ``InvocationError/nullFunction``; the errors of `CallPlan.init`.
  /// - Safety: `encoding` must describe the function's C type. Without a `receiver` it must take
  ///   any object, because the implementation may be added to any class.
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

  /// Makes a method of any signature from a closure that gets the call as an invocation. The sender
  /// gets the result that the closure sets, or zero if it sets none.
  ///
  /// The arguments belong to the sender. If the closure retains the invocation, objects are
  /// retained and C strings copied, but not memory behind pointers.
  ///
  /// - Throws: The errors of `CallPlan.init` if the signature cannot be planned.
  public convenience init(
    _ signature: MethodSignature, invocation body: @escaping @Sendable (Invocation) throws -> Void
  ) throws(InvocationError) {
    self.init(try CallPlan.shared(for: signature), invocation: body)
  }
}
