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

  /// What an implementation has beside its plan and its code.
  struct Traits: Sendable {
    /// The class that receivers must belong to; nil if any receiver, or none, is valid.
    var receiver: AnyClass?
    /// The body for senders that await; nil if they call `body` or the function too.
    var awaitedBody: AwaitedClosure?
    /// Whether the caller of the body owns an object or C string that the body stores as the result.
    var ownsResult = false
    /// An object that lives as long as the implementation: the library that contains the code.
    var keepAlive: (any Sendable)?
    /// The variant for messages without a result, if it has another body.
    var withoutResult: Implementation?
    /// The method that a proxy made for a requirement of another protocol, with the same selector
    /// and other types; nil for nearly all methods.
    var otherTypes: Implementation?
    /// Whether a proxy made it.
    var isGenerated = false
    /// Whether its class may leave it out, so that it stands for a default implementation.
    var isOptional = false
  }

  /// The prepared call. Dispatch compares it by identity.
  public let plan: CallPlan
  /// The C function; nil if `body` is called.
  let function: NativeFunction?
  /// The Swift body. Not optional, and not in an enumeration, because unwrapping it would retain
  /// it.
  let body: Closure
  private let traits: Traits

  /// The class that receivers must belong to; nil if any receiver, or none, is valid.
  public var receiver: AnyClass? { traits.receiver }
  var awaitedBody: AwaitedClosure? { traits.awaitedBody }
  var ownsResult: Bool { traits.ownsResult }
  var otherTypes: Implementation? { traits.otherTypes }
  var isGenerated: Bool { traits.isGenerated }
  package var isOptional: Bool { traits.isOptional }
  /// Whether the method has a body of its own for senders that await.
  package var isAwaited: Bool { awaitedBody != nil }

  private init(
    _ plan: CallPlan, function: NativeFunction? = nil, _ traits: Traits, _ body: @escaping Closure
  ) {
    self.plan = plan
    self.function = function
    self.body = body
    self.traits = traits
  }

  /// Makes an implementation from a Swift body and a plan that fits its types.
  ///
  /// - Parameter awaited: the body for senders that await, if it is another one.
  @usableFromInline
  convenience init<Value, each Argument>(
    _ fitted: FittedPlan<Value, repeat each Argument>, receiver: Any.Type? = nil,
    withoutResult: Implementation? = nil, awaited: AwaitedClosure? = nil,
    _ body: @escaping Closure
  ) {
    // A protocol type is not a class. A pointer in the place of a C string is not handed over.
    let traits = Traits(
      receiver: receiver as? AnyClass, awaitedBody: awaited,
      ownsResult: fitted.result.ownership != .none, withoutResult: withoutResult)
    self.init(fitted.plan, traits, body)
  }

  /// Makes a copy with other bodies, which `make` makes of those of a method and of its variant.
  convenience init(
    _ other: Implementation,
    wrapping make: (Implementation) -> (body: Closure, awaited: AwaitedClosure?)
  ) {
    var traits = other.traits
    let (body, awaited) = make(other)
    traits.awaitedBody = awaited
    traits.withoutResult = traits.withoutResult.map { Implementation($0, wrapping: make) }
    self.init(other.plan, traits, body)
  }

  /// Makes a method of a proxy that answers other types, too.
  convenience init(_ first: Implementation, besides other: Implementation) {
    var traits = first.traits
    traits.otherTypes = traits.otherTypes.map { Implementation($0, besides: other) } ?? other
    traits.isGenerated = true
    self.init(first.plan, function: first.function, traits, first.body)
  }

  /// A copy that is marked as made by a proxy.
  package func markedAsOfProxy(isOptional: Bool) -> Implementation {
    var traits = traits
    (traits.isGenerated, traits.isOptional) = (true, isOptional)
    return Implementation(plan, function: function, traits, body)
  }

  /// Makes an implementation from a closure that gets each call as an invocation, whose accessors
  /// check the types.
  package convenience init(
    _ plan: CallPlan, invocation body: @escaping @Sendable (Invocation) throws -> Void
  ) {
    self.init(plan, Traits(ownsResult: true)) { frame in
      try SpareInvocations.answer(frame, of: plan, with: body)
    }
  }

  /// Makes an implementation from the C function at an address.
  ///
  /// - Throws: ``InvocationError/nullFunction``.
  /// - Safety: the plan's signature must describe its C type, and it must take any object of the
  ///   class as its receiver.
  @unsafe
  convenience init(
    _ plan: CallPlan, function: UnsafeRawPointer?, returnsRetained: Bool,
    receiver: AnyClass? = nil, keepAlive: (any Sendable)? = nil
  ) throws(InvocationError) {
    guard let function = unsafe function else { throw .nullFunction }
    let native = unsafe NativeFunction(address: function, returnsRetained: returnsRetained)
    self.init(plan, function: native, Traits(receiver: receiver, keepAlive: keepAlive)) { _ in }
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
    return traits.withoutResult?.answering(plan) ?? otherTypes?.answering(plan)
  }

  /// Whether a C function may be called with objects of a class. Swift bodies check the class
  /// themselves.
  func takes(_ type: AnyClass) -> Bool {
    guard function != nil, let receiver else { return true }
    return isClass(type, below: receiver)
  }

  /// Throws if C code does not take a receiver.
  func checkReceiver(_ object: @autoclosure () -> AnyObject?) throws(InvocationError) {
    guard function != nil, let receiver else { return }
    let object = object()
    if let object, takes(type(of: object)) { return }
    throw .wrongClass(
      expected: SwiftType(receiver), given: object.map { SwiftType(type(of: $0)) })
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
  /// Makes a method from a closure over any types, which takes the receiver in front of the
  /// arguments. Its types must fit `encoding`, or spell one if it is nil. In that case the method
  /// also answers messages without a result.
  ///
  /// - Throws: ``InvocationError`` if `encoding` is invalid or does not fit the closure.
  @inlinable
  public convenience init<Receiver: AnyObject, Value, each Argument>(
    encoding: String? = nil,
    method body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    try self.init(encoding, receiver: Receiver.self) {
      (fitted: FittedPlan<Value, repeat each Argument>) in
      (unsafe SwiftBody.returning(fitted, method: body), nil)
    }
  }

  /// Makes a method from a closure that takes only the arguments.
  @usableFromInline
  package static func ofAnyTypes<Value, each Argument>(
    encoding: String? = nil, _ body: @escaping @Sendable (repeat each Argument) throws -> Value
  ) throws(InvocationError) -> Implementation {
    try Implementation(encoding, receiver: nil) {
      (fitted: FittedPlan<Value, repeat each Argument>) in
      (SwiftBody.returning(fitted, body), nil)
    }
  }

  /// Makes a method from the bodies that `make` makes for a plan. If its types spell the encoding, it
  /// also answers messages without a result: a closure of one expression may have one by accident,
  /// as in `{ (id: Int) in seen.insert(id) }`.
  @usableFromInline
  convenience init<Value, each Argument>(
    _ encoding: String?, receiver: Any.Type?,
    _ make: (FittedPlan<Value, repeat each Argument>) -> (body: Closure, awaited: AwaitedClosure?)
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, repeat each Argument>(method: encoding)
    var twin: Implementation?
    if encoding == nil, Value.self != Void.self {
      let dropping = try fitted.droppingResult()
      let (body, awaited) = make(dropping)
      twin = Implementation(dropping, receiver: receiver, awaited: awaited, body)
    }
    let (body, awaited) = make(fitted)
    self.init(fitted, receiver: receiver, withoutResult: twin, awaited: awaited, body)
  }

  /// Makes a method from a C function whose first parameters are the receiver and the selector.
  ///
  /// - Parameters:
  ///   - receiver: the class that receivers must belong to; other objects are refused.
  ///   - returnsRetained: whether the caller must release an object that the function returns.
  /// - Throws: ``InvocationError/encoding(_:)`` if the encoding is invalid;
  ///   ``InvocationError/nullFunction``; the errors of `CallPlan.shared`.
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
  /// - Throws: The errors of `CallPlan.shared` if the signature cannot be planned.
  public convenience init(
    _ signature: MethodSignature, invocation body: @escaping @Sendable (Invocation) throws -> Void
  ) throws(InvocationError) {
    self.init(try CallPlan.shared(for: signature), invocation: body)
  }
}
