// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
public import TypeEncodings

/// A method call as a value, recorded once and invoked on any target, any number of times.
///
/// ```swift
/// let call = try Invocation(MethodSignature("i@:ii"), selector: "add:to:")
/// try call.setArgument(Int32(2), at: 2)
/// try call.setArgument(Int32(3), at: 3)
/// try call.invoke(on: calculator)
/// try call.result(as: Int32.self)  // 5
/// ```
///
/// It does what `NSInvocation` does, index by index: 0 is the receiver, 1 the selector, 2 the first
/// declared argument. There are three differences. Arguments are checked against the signature.
/// Objects are retained, and `String`s copied, from the start. Every error in a call is found
/// before the call.
///
/// An invocation belongs to one task at a time; ``copy()`` makes another invocation.
@safe
public final class Invocation {
  /// The prepared call.
  public let plan: CallPlan

  // SAFETY: memory that `init` allocates and `deinit` frees. The user of the reference keeps the
  // invocation alive.
  @usableFromInline package let call: Call

  /// The objects that forwarded the message before it crossed to another thread, and the object that
  /// owns the memory that arguments refer to, if it was allocated for them. Few invocations have any.
  private var luggage: (path: [AnyObject], keeper: AnyObject?) = ([], nil)

  /// Makes an invocation of a prepared plan, with all arguments zero.
  public convenience init(_ plan: CallPlan) {
    unsafe self.init(Unmanaged.passUnretained(plan))
    withExtendedLifetime(plan) {}
  }

  /// Makes an invocation of a plan that the caller keeps alive. The unmanaged parameter saves a
  /// retain and a release.
  private init(_ unretained: Unmanaged<CallPlan>) {
    let plan = unsafe unretained.takeUnretainedValue()
    self.plan = plan
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: Self.recalledSize + plan.callSize, alignment: 16)
    unsafe memory.initializeMemory(as: FWDRecalled.self, to: FWDRecalled())
    unsafe call = Call(plan, at: memory + Self.recalledSize)
    unsafe call.state.pointee.owner = UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())
  }

  /// Makes an invocation with all arguments zero, no target and no selector.
  ///
  /// - Throws: The errors of `CallPlan.shared` if the signature cannot be planned.
  public convenience init(_ signature: MethodSignature) throws(InvocationError) {
    self.init(try CallPlan.shared(for: signature))
  }

  /// Makes an invocation of a method. `selector` must have a colon for each declared argument.
  ///
  /// - Throws: ``InvocationError/encoding(_:)`` if the number of colons differs;
  ///   ``InvocationError/notAMethod(_:)`` for other signatures; and the errors of `CallPlan.shared`.
  public convenience init(
    _ signature: MethodSignature, selector: Selector
  ) throws(InvocationError) {
    defer { withExtendedLifetime(signature) {} }
    if let plan = unsafe CallPlan.borrowed(from: signature),
      unsafe plan._withUnsafeGuaranteedRef({
        $0.isMethod && $0.argumentCount == selector.numberOfArguments + 2
      })
    {
      unsafe self.init(plan)
      call.setSelector(selector)
      return
    }
    try signature.checkArity(of: selector)
    try self.init(signature)
    try setSelector(selector)
  }

  /// Makes an invocation of a method with a selector that fits the plan.
  package convenience init(_ plan: CallPlan, comparedSelector selector: Selector) {
    self.init(plan)
    call.setSelector(selector)
  }

  /// Makes an invocation from an encoding, which may be untrusted.
  ///
  /// - Throws: ``InvocationError/encoding(_:)`` if it cannot be parsed, and the errors of
  ///   `CallPlan.shared`.
  public convenience init(parsing encoding: String) throws(InvocationError) {
    try self.init(
      InvocationError.wrapping { () throws(TypeEncodingError) in
        try MethodSignature(parsing: encoding)
      })
  }

  deinit {
    call.finish()
    forgetMethod()
    unsafe recalled.deallocate()
  }

  /// The cached method lies in front of the call's memory, because accesses to a property would be
  /// checked for exclusivity.
  private static let recalledSize = unsafe MemoryLayout<FWDRecalled>.size

  @unsafe
  @inline(__always)
  var recalled: UnsafeMutablePointer<FWDRecalled> {
    unsafe UnsafeMutableRawPointer(call.state).assumingMemoryBound(to: FWDRecalled.self) - 1
  }

  /// The signature that the invocation was made with.
  public var methodSignature: MethodSignature { plan.signature }

  /// Whether ``retainArguments(includingTarget:)`` was called.
  public var argumentsRetained: Bool { call.retainsArguments }

  /// Whether the invocation has a path or a keeper. Faster than reading them.
  package var hasLuggage: Bool { unsafe call.state.pointee.has_attachments != 0 }

  var path: [AnyObject] { luggage.path }

  package var keeper: AnyObject? { luggage.keeper }

  /// Adds an object that sends this message to another thread.
  package func addToPath(_ object: AnyObject) { setLuggage(path + [object], keeper) }

  /// Replaces the owner of the arguments' memory. No argument may refer to the old owner's memory
  /// any more.
  package func setKeeper(_ keeper: AnyObject?) { setLuggage(path, keeper) }

  func setLuggage(_ path: [AnyObject], _ keeper: AnyObject?) {
    let old = luggage
    luggage = (path, keeper)
    unsafe call.state.pointee.has_attachments = path.isEmpty && keeper == nil ? 0 : 1
    // The old objects die here, and their `deinit`s may use the invocation.
    withExtendedLifetime(old) {}
  }
}

// Copies of an invocation, and what it owns of its values.
extension Invocation {
  /// Retains every borrowed object, and copies every borrowed C string. Arguments that are set
  /// later are retained in the same way. Further calls have no effect.
  ///
  /// Memory that a `^` points at, or that a structure refers to, is not retained or copied.
  ///
  /// - Parameter includingTarget: false leaves the receiver borrowed, for an invocation that its
  ///   own target retains. The two would otherwise retain each other and never die.
  public func retainArguments(includingTarget: Bool = true) {
    call.retainsArguments = true
    if includingTarget { call.retainsTarget = true }
    for index in 0..<plan.argumentCount where call.isRetaining(index) && !call.owns(index) {
      call.retain(index)
    }
    call.keepResult()
  }

  /// Makes an invocation with the same arguments, target, selector and result.
  ///
  /// The copy owns its values, whether this invocation does or not: objects are retained, and C
  /// strings copied. Memory behind pointers is shared.
  public func copy() -> Invocation {
    let copy = duplicate(includingTarget: true)
    // This invocation may be lent, and its borrowed references end with the loan.
    copy.keepArguments()
    copy.call.keepResult()
    return copy
  }

  /// Makes a copy that owns what this invocation owns, and borrows the rest.
  func duplicate(includingTarget: Bool) -> Invocation {
    let copy = Invocation(plan)
    // SAFETY: both frames have the size that the plan says.
    unsafe copy.call.copyFrame(from: call.frame)
    copy.call.retainsArguments = call.retainsArguments
    copy.call.retainsTarget = call.retainsTarget
    if !includingTarget, plan.isMethod { copy.call.slot(0).word = 0 }
    for index in 0..<plan.argumentCount where call.owns(index) { copy.call.retain(index) }
    if let keeper { copy.setKeeper(keeper) }
    copy.call.hasResult = call.hasResult
    if call.resultOwnership != .none { copy.call.keepResult() }
    return copy
  }

  /// Copies the invocation, without its target, to carry the same message on. The copy shares the
  /// message number, so a message that comes back to an object that is forwarding it is detected as
  /// a cycle.
  package func carryingCopy() -> Invocation {
    let copy = duplicate(includingTarget: false)
    _ = call.message
    copy.call.carry(messageOf: call)
    if hasLuggage { copy.setLuggage(path, keeper) }
    return copy
  }

  /// Whether the signature has a result.
  package var returnsValue: Bool { call.returnsValue }

  /// Copies the result of another invocation of the same plan.
  package func adoptResult(from other: Invocation) {
    let old = call.detachResult()
    defer { call.letGo(old) }
    call.copyAnswer(of: other.call)
  }

  /// This invocation, or a new one that has only the result if other code may change this one.
  package func unsharedAnswer() -> Invocation {
    SpareInvocations.isReusable(self) ? self : call.copiedAnswer()
  }

  /// Retains or copies the borrowed arguments, once. For a lent invocation that its borrower may
  /// retain.
  package func keepArguments() { call.keepArguments() }
}
