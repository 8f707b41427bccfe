public import CForwardingShims
public import TypeEncodings

/// A method call as a value: recorded once, sent to any target, any number of times.
///
/// ```swift
/// let call = try Invocation(MethodSignature("i@:ii"), selector: "add:to:")
/// try call.setArgument(Int32(2), at: 2)
/// try call.setArgument(Int32(3), at: 3)
/// try call.invoke(on: calculator)
/// try call.result(as: Int32.self)     // 5
/// ```
///
/// What `NSInvocation` does, this does, index by index: 0 is the receiver, 1 the selector, 2 the
/// first declared argument. Three differences: arguments are checked against the signature, what
/// is set is retained (and a `String` copied) from the start, and everything is refused before the
/// call that could be wrong about it.
///
/// An invocation belongs to one task at a time; ``copy()`` makes another.
@safe
public final class Invocation {
  /// The prepared call.
  public let plan: CallPlan

  // SAFETY: one block of memory, the state and then `plan.frameSize` bytes aligned to 16, allocated
  // in `init` and freed in `deinit`.
  @usableFromInline let state: UnsafeMutablePointer<FWDInvocationState>
  @usableFromInline let frame: UnsafeMutableRawPointer

  /// Which of the arguments behind the 64th own what they hold; those before are bits of `state`.
  var ownedBeyond: Set<Int> = []

  /// The number of the message, 0 until one is needed. Copies that carry a message on share it; it
  /// tells that the message came back. A number, as the address of a dead one would be used again.
  var messageNumber: UInt = 0
  /// Who forwarded this on its way, if it has crossed to another thread.
  package var path: [AnyObject] = []
  /// Whether ``retainArguments(includingTarget:)`` was called.
  public internal(set) var argumentsRetained = false
  /// Whether it included the target.
  public internal(set) var targetRetained = false

  /// Makes an invocation of a prepared plan, with all arguments zero.
  public init(_ plan: CallPlan) {
    self.plan = plan
    let stateSize = unsafe MemoryLayout<FWDInvocationState>.stride
    let block = UnsafeMutableRawPointer.allocate(
      byteCount: stateSize + plan.frameSize, alignment: 16)
    unsafe block.initializeMemory(as: UInt8.self, repeating: 0, count: stateSize + plan.frameSize)
    unsafe state = block.assumingMemoryBound(to: FWDInvocationState.self)
    unsafe frame = block + stateSize
    unsafe bindResult()
  }

  /// Makes an invocation with all arguments zero, no target and no selector.
  public convenience init(_ signature: MethodSignature) throws(InvocationError) {
    self.init(try CallPlan.shared(for: signature))
  }

  /// Makes an invocation of a method. `selector` must have a colon for each declared argument.
  public convenience init(
    _ signature: MethodSignature, selector: String
  ) throws(InvocationError) {
    try InvocationError.wrapping { () throws(TypeEncodingError) in
      try signature.checkArity(ofSelector: selector)
    }
    try self.init(signature)
    try setSelector(Selector(selector))
  }

  /// Makes an invocation from an encoding, which may come from anywhere.
  public convenience init(parsing encoding: String) throws(InvocationError) {
    try self.init(
      InvocationError.wrapping { () throws(TypeEncodingError) in
        try MethodSignature(parsing: encoding)
      })
  }

  deinit {
    releaseResult()
    for index in 0..<plan.argumentCount where owns(index) { releaseOwned(index) }
    cachedMethod = nil
    unsafe UnsafeMutableRawPointer(state).deallocate()
  }

  /// The signature the invocation was made with.
  public var methodSignature: MethodSignature { plan.signature }

  /// Points the hidden argument for a large result at this frame.
  @unsafe
  func bindResult() {
    // SAFETY: a frame of this plan, as `init` made it.
    unsafe fwd_frame_bind_result(plan.facts, frame.assumingMemoryBound(to: FWDFrame.self))
  }

  // MARK: Places

  /// The place of argument `index`, which was checked.
  @inlinable
  func slot(_ index: Int) -> ValueSlot {
    unsafe ValueSlot(slot: plan.slots + index, frame: frame, index: index)
  }

  /// The place of the result.
  @inlinable
  var resultSlot: ValueSlot {
    unsafe ValueSlot(slot: plan.result, frame: frame, index: nil)
  }

  @inlinable
  func checkIndex(_ index: Int) throws(InvocationError) {
    guard index >= 0, index < plan.argumentCount else {
      throw .indexOutOfBounds(index: index, count: plan.argumentCount)
    }
  }

  // MARK: State

  @inlinable
  var owned: UInt64 {
    get { unsafe state.pointee.owned }
    set { unsafe state.pointee.owned = newValue }
  }

  /// Whether a call has completed, or a result was set, since the last failure.
  @inlinable
  var hasResult: Bool {
    get { unsafe state.pointee.has_result != 0 }
    set { unsafe state.pointee.has_result = newValue ? 1 : 0 }
  }

  /// What is owned of the result.
  @inlinable
  var resultOwnership: ValueOwnership {
    get { ValueOwnership(rawValue: unsafe state.pointee.result_ownership) ?? .none }
    set { unsafe state.pointee.result_ownership = newValue.rawValue }
  }

  /// The method that the last send found, retained.
  var cachedMethod: Implementation? {
    get {
      unsafe state.pointee.cached_method.map {
        unsafe Unmanaged<Implementation>.fromOpaque($0).takeUnretainedValue()
      }
    }
    set {
      let old = unsafe state.pointee.cached_method
      unsafe state.pointee.cached_method = newValue.map {
        unsafe UnsafeRawPointer(Unmanaged.passRetained($0).toOpaque())
      }
      if let old = unsafe old { unsafe Unmanaged<Implementation>.fromOpaque(old).release() }
    }
  }

  // MARK: Ownership

  @inlinable
  func owns(_ index: Int) -> Bool {
    index < 64 ? owned & (1 << UInt64(index)) != 0 : ownsBeyond(index)
  }

  @usableFromInline func ownsBeyond(_ index: Int) -> Bool { ownedBeyond.contains(index) }

  @inlinable
  func setOwns(_ index: Int, _ value: Bool) {
    if index < 64 {
      let bit: UInt64 = 1 << UInt64(index)
      owned = value ? owned | bit : owned & ~bit
    } else {
      setOwnsBeyond(index, value)
    }
  }

  @usableFromInline func setOwnsBeyond(_ index: Int, _ value: Bool) {
    if value { ownedBeyond.insert(index) } else { ownedBeyond.remove(index) }
  }

  /// Gives back what argument `index` owns; its word stays as it was.
  @usableFromInline func releaseOwned(_ index: Int) {
    let slot = slot(index)
    setOwns(index, false)
    if slot.kind.isCString {
      OwnedCString.release(slot.word)
    } else {
      OwnedObject.release(slot.word)
    }
  }

  @usableFromInline func releaseResult() {
    switch resultOwnership {
    case .none: return
    case .cString: OwnedCString.release(resultSlot.word)
    case .object: OwnedObject.release(resultSlot.word)
    }
    resultOwnership = .none
  }
}
