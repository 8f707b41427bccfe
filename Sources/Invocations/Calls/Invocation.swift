public import CForwardingShims
public import TypeEncodings

/// A method call as a value: recorded once, invoked on any target, any number of times.
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
/// declared argument. Three differences: arguments are checked against the signature, what is set
/// is retained (and a `String` copied) from the start, and everything that could be wrong about a
/// call is refused before the call.
///
/// An invocation belongs to one task at a time; ``copy()`` makes another.
@safe
public final class Invocation {
  /// The prepared call.
  public let plan: CallPlan

  // SAFETY: memory that `init` allocates and `deinit` frees.
  @usableFromInline package let call: Call
  // SAFETY: the plan's own, kept here as well so that setting an argument reads one thing less.
  @usableFromInline let slots: UnsafePointer<FWDSlot>
  @usableFromInline let argumentCount: Int

  private var luggage: Luggage?

  /// Makes an invocation of a prepared plan, with all arguments zero.
  public convenience init(_ plan: CallPlan) {
    unsafe self.init(Unmanaged.passUnretained(plan))
    withExtendedLifetime(plan) {}
  }

  /// The same for a plan that the caller keeps meanwhile: it is counted once, and not once more to be handed
  /// over.
  private init(_ unretained: Unmanaged<CallPlan>) {
    let plan = unsafe unretained.takeUnretainedValue()
    self.plan = plan
    let memory = unsafe fwd_block_take(Self.recalledSize + plan.callSize)
    unsafe memory.initializeMemory(as: FWDRecalled.self, to: FWDRecalled())
    unsafe call = Call(plan, at: memory + Self.recalledSize)
    unsafe slots = plan.slots
    argumentCount = plan.argumentCount
    unsafe call.state.pointee.owner = UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())
  }

  /// Makes an invocation with all arguments zero, no target and no selector.
  public convenience init(_ signature: MethodSignature) throws(InvocationError) {
    self.init(try CallPlan.shared(for: signature))
  }

  /// Makes an invocation of a method. `selector` must have a colon for each declared argument.
  public convenience init(
    _ signature: MethodSignature, selector: Selector
  ) throws(InvocationError) {
    let plan = unsafe CallPlan.borrowed(from: signature)
    defer {
      unsafe plan?.giveBack()
      withExtendedLifetime(signature) {}
    }
    if let plan = unsafe plan, unsafe plan.isMethod(withArguments: selector.numberOfArguments) {
      unsafe self.init(plan.plan)
      call.setSelector(selector)
      return
    }
    try signature.checkArity(of: selector)
    try self.init(signature)
    try setSelector(selector)
  }

  /// Makes an invocation from an encoding, which may come from anywhere.
  public convenience init(parsing encoding: String) throws(InvocationError) {
    try self.init(
      InvocationError.wrapping { () throws(TypeEncodingError) in
        try MethodSignature(parsing: encoding)
      })
  }

  deinit {
    call.finish()
    forgetMethod()
    unsafe fwd_block_give(recalled, Self.recalledSize + plan.callSize)
  }

  /// What is known of the method stands in front of the call: properties would be checked for exclusivity.
  private static let recalledSize = unsafe MemoryLayout<FWDRecalled>.size

  @unsafe
  @inline(__always)
  var recalled: UnsafeMutablePointer<FWDRecalled> {
    unsafe UnsafeMutableRawPointer(call.state).assumingMemoryBound(to: FWDRecalled.self) - 1
  }

  /// The signature the invocation was made with.
  public var methodSignature: MethodSignature { plan.signature }

  /// Whether ``retainArguments(includingTarget:)`` was called.
  public var argumentsRetained: Bool { call.retainsArguments }

  /// Whether it included the target.
  public var targetRetained: Bool { call.retainsTarget }

  /// Whether it has crossed to another thread, or keeps memory; cheaper to ask than what it is.
  var hasLuggage: Bool { unsafe call.state.pointee.has_luggage != 0 }

  /// The objects that forwarded this on its way, if it has crossed to another thread.
  var path: [AnyObject] { luggage?.path ?? [] }

  /// Remembers that an object has sent this to another thread.
  package func addToPath(_ object: AnyObject) { setPath(path + [object]) }

  func setPath(_ path: [AnyObject]) { setLuggage(Luggage(path: path, keeper: keeper)) }

  /// Keeps the memory that arguments refer to, if it was made for them.
  package var keeper: AnyObject? { luggage?.keeper }

  /// Lets another object keep the memory of the arguments, once none refers to the old one's.
  package func setKeeper(_ keeper: AnyObject?) {
    let isEmpty = keeper == nil && path.isEmpty
    setLuggage(isEmpty ? nil : Luggage(path: path, keeper: keeper))
  }

  func setLuggage(_ luggage: Luggage?) {
    let old = self.luggage
    self.luggage = luggage
    unsafe call.state.pointee.has_luggage = luggage == nil ? 0 : 1
    // An object that dies here may use the invocation.
    withExtendedLifetime(old) {}
  }
}

/// What few invocations have with them.
final class Luggage {
  let path: [AnyObject]
  let keeper: AnyObject?

  init(path: [AnyObject], keeper: AnyObject?) {
    self.path = path
    self.keeper = keeper
  }
}
