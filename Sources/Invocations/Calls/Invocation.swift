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

  private var attachments: Attachments?

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

  /// Whether ``retainArguments(includingTarget:)`` included the target.
  package var targetRetained: Bool { call.retainsTarget }

  /// Whether the invocation has a path or a keeper. Faster than reading them.
  package var hasLuggage: Bool { unsafe call.state.pointee.has_attachments != 0 }

  /// The objects that forwarded this message before it crossed to another thread.
  var path: [AnyObject] { attachments?.path ?? [] }

  /// Adds an object that sends this message to another thread.
  package func addToPath(_ object: AnyObject) { setPath(path + [object]) }

  func setPath(_ path: [AnyObject]) { setAttachments(Attachments(path: path, keeper: keeper)) }

  /// The object that owns the memory that arguments refer to, if that memory was allocated for
  /// them.
  package var keeper: AnyObject? { attachments?.keeper }

  /// Replaces the owner of the arguments' memory. No argument may refer to the old owner's memory
  /// any more.
  package func setKeeper(_ keeper: AnyObject?) {
    let isEmpty = keeper == nil && path.isEmpty
    setAttachments(isEmpty ? nil : Attachments(path: path, keeper: keeper))
  }

  func setAttachments(_ attachments: Attachments?) {
    let old = self.attachments
    self.attachments = attachments
    unsafe call.state.pointee.has_attachments = attachments == nil ? 0 : 1
    // The old attachments dies here, and its `deinit`s may use the invocation.
    withExtendedLifetime(old) {}
  }
}

/// Data that few invocations have.
final class Attachments {
  let path: [AnyObject]
  let keeper: AnyObject?

  init(path: [AnyObject], keeper: AnyObject?) {
    self.path = path
    self.keeper = keeper
  }
}
