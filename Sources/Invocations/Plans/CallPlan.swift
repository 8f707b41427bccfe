public import CForwardingShims
public import TypeEncodings

/// A prepared way to call any function with one signature.
///
/// ```swift
/// let plan = try CallPlan.shared(for: MethodSignature("dd"))
/// let call = Invocation(plan)
/// try call.setArgument(0.0, at: 0)
/// try unsafe call.invoke(using: Library("libm.so.6").address(of: "cos"))
/// try call.result(as: Double.self)  // 1.0
/// ```
///
/// Making a plan is slow (every argument is classified and placed); using one is fast. A plan
/// never changes, so one plan serves every thread.
///
/// - Important: A plan knows the *types* of a call, never the function. Calling a function whose
///   real C type differs from the plan is undefined behavior.
@safe
public final class CallPlan: Sendable {
  /// The signature that was planned.
  public let signature: MethodSignature
  /// How many arguments stand before the `...` of a variadic function; nil for all others.
  public let fixedArgumentCount: Int?

  // SAFETY: set once in `init`, freed once in `deinit`, only read in between; the C side
  // promises that reads may run at the same time.
  @usableFromInline package nonisolated(unsafe) let handle: OpaquePointer
  @usableFromInline nonisolated(unsafe) let facts: UnsafePointer<FWDPlanFacts>
  @usableFromInline nonisolated(unsafe) let slots: UnsafePointer<FWDSlot>
  @usableFromInline nonisolated(unsafe) let result: UnsafePointer<FWDSlot>
  @usableFromInline let argumentCount: Int
  var returnsValue: Bool { unsafe facts.pointee.returns_value != 0 }
  let engine: FWDEngine
  let frameSize: Int
  /// How much memory a call takes: its state, its frame, and the notes of who owns what.
  @usableFromInline let callSize: Int
  /// Whether the signature is that of a method of an object.
  let isMethod: Bool

  /// The types of the places whose values travel by their address, the result first; empty if there are
  /// none.
  private let swiftTypes: [SwiftType?]
  /// Whether an argument is a variable of the sender's, which no other thread may have.
  let lendsVariables: Bool

  /// How calls travel to another thread where that takes no more than to copy them.
  let carriage: Carriage
  /// Whether the values of a call may go to another thread as they are.
  package var travels: Bool { carriage.size > 0 }

  /// Whether C has the values of all places.
  var isOfC: Bool { swiftTypes.isEmpty }

  /// Whether text is Swift's own somewhere, in a place that is spelled as that of a C string.
  let hasSwiftText: Bool

  /// Equal for plans of equal signatures: how the shared ones are found.
  let key: [UInt8]
  /// Equal for plans that may stand in for one another: which types an address points at does not
  /// count, as nobody owns it.
  package let identity: [UInt8]
  /// What shared plans of one identity, but of different signatures, have in common.
  private let sharedIdentity: SharedIdentity?

  /// Plans calls with `signature`. For a variadic function, `fixedArgumentCount` arguments stand
  /// before its `...`; the others get C's default promotions.
  ///
  /// Throws where a type cannot be laid out or passed by value, with the reason.
  public convenience init(
    _ signature: MethodSignature, fixedArgumentCount: Int? = nil
  ) throws(InvocationError) {
    try self.init(
      signature, fixedArgumentCount: fixedArgumentCount,
      key: Self.key(signature, fixedArgumentCount, []), shared: nil)
  }

  init(
    _ signature: MethodSignature, fixedArgumentCount: Int?, _ swiftTypes: [SwiftType?] = [],
    key: [UInt8], shared: SharedIdentity?
  ) throws(InvocationError) {
    let count = signature.numberOfArguments
    if let fixed = fixedArgumentCount, !(0...count).contains(fixed) {
      throw .indexOutOfBounds(index: fixed, count: count)
    }
    var values = try Self.values(of: signature)
    for (place, type) in swiftTypes.enumerated() where type != nil {
      values[place].kind = .swiftValue
    }
    self.swiftTypes = swiftTypes
    lendsVariables = swiftTypes.contains { $0?.type is any LentVariable.Type }
    hasSwiftText = swiftTypes.contains { $0 == .text }
    var plan: OpaquePointer?
    var blamed = 0
    let status = unsafe fwd_plan_create(
      values, count, fixedArgumentCount ?? count, &plan, &blamed)
    guard let plan = unsafe plan else { throw Self.error(status, blamed, signature) }
    // The signature that was given keeps the plan: it must not be this one.
    self.signature = MethodSignature(remindedOfNothing: signature)
    self.fixedArgumentCount = fixedArgumentCount
    self.key = key
    identity = shared?.bytes ?? Self.identity(signature, fixedArgumentCount, swiftTypes) ?? key
    sharedIdentity = shared
    unsafe handle = plan
    unsafe facts = fwd_plan_facts(plan)
    unsafe slots = facts.pointee.slots
    unsafe result = fwd_plan_result(plan)
    unsafe engine = facts.pointee.engine
    unsafe frameSize = Int(facts.pointee.frame_size)
    unsafe callSize =
      MemoryLayout<FWDInvocationState>.stride + frameSize
      + Int(facts.pointee.owned_words) * 8
    argumentCount = count
    // A class as the receiver (`#`) is no object on Linux, and cannot be sent to.
    isMethod = unsafe signature.shape == .method && slots[0].kind == .object
    unsafe carriage =
      (isMethod ? Carriage(facts, swiftTypes, lendsVariables: lendsVariables) : nil) ?? .none
    unsafe fwd_plan_set_swift_plan(
      plan, Unmanaged.passUnretained(self).toOpaque(),
      shared.map { unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) },
      hasSwiftText ? 1 : 0)
  }

  deinit {
    leaveShared()
    unsafe fwd_plan_destroy(handle)
  }

  static func values(
    of signature: MethodSignature
  ) throws(InvocationError) -> [FWDValue] {
    try InvocationError.wrapping { () throws(TypeEncodingError) in
      var values = [try FWDValue(signature.resultType, isArgument: false)]
      if signature.resultType.isArray {
        throw TypeEncodingError(reason: .arrayResult, offset: 0, encoding: "\(signature)")
      }
      for type in signature.argumentTypes {
        values.append(try FWDValue(type, isArgument: true))
      }
      return values
    }
  }

  /// The only place where a C status becomes a Swift error.
  static func error(
    _ status: FWDStatus, _ blamed: Int, _ signature: MethodSignature
  ) -> InvocationError {
    switch status {
    case .ok, .outOfMemory: .outOfMemory
    case .unsupportedValue: .unsupportedValue(index: blamed, signature: signature)
    case .tooLarge: .tooLarge(signature)
    case .unsupportedConvention: .unsupportedConvention
    }
  }

  static func key(
    _ signature: MethodSignature, _ fixed: Int?, _ swiftTypes: [SwiftType?]
  ) -> [UInt8] {
    signature.identity + suffix(fixed, swiftTypes)
  }

  /// The identity of a plan that takes or returns an address, whatever it points at; nil for
  /// others, whose key is their identity.
  static func identity(
    _ signature: MethodSignature, _ fixed: Int?, _ swiftTypes: [SwiftType?] = []
  ) -> [UInt8]? {
    let result = signature.resultType
    let types = signature.argumentTypes
    let isAddress = [result.isUnownedAddress] + types.map(\.isUnownedAddress)
    guard isAddress.contains(true) else { return nil }
    return zip([result] + types, isAddress).reduce(into: []) { bytes, place in
      bytes += place.1 ? Array("^v".utf8) : place.0.identity
    } + suffix(fixed, swiftTypes)
  }

  /// What a plan is told by beside its signature. Two types of one name are two types.
  private static func suffix(_ fixed: Int?, _ swiftTypes: [SwiftType?]) -> [UInt8] {
    let fixed = fixed.map { "...\($0)" } ?? ""
    let types = swiftTypes.map { type in
      type.map { " \(UInt(bitPattern: ObjectIdentifier($0.type)))" } ?? " "
    }
    return Array((fixed + types.joined()).utf8)
  }

  /// Whether a method planned as `other` answers calls of this plan if text is translated on the way: they
  /// differ in nothing but whose text it is.
  func differsInText(from other: CallPlan) -> Bool {
    guard hasSwiftText || other.hasSwiftText, fixedArgumentCount == other.fixedArgumentCount,
      signature.isInterchangeable(with: other.signature)
    else { return false }
    return (0...argumentCount).allSatisfy { place in
      let (one, two) = (swiftType(ofPlace: place), other.swiftType(ofPlace: place))
      return one == two || (one ?? .text == .text && two ?? .text == .text)
    }
  }

  /// The type of a place whose values travel by their address; 0 is the result.
  func swiftType(ofPlace place: Int) -> SwiftType? {
    swiftTypes.isEmpty ? nil : swiftTypes[place]
  }

  /// Whether a function or method planned as `other` may be called through this plan: their
  /// signatures are equal, except for what pointers, blocks and functions point at. A C string is no such
  /// pointer, as it is owned.
  ///
  /// One comparison of pointers for plans from the shared cache.
  @inlinable
  public func isInterchangeable(with other: CallPlan) -> Bool {
    self === other || hasSameIdentity(as: other)
  }

  @usableFromInline
  func hasSameIdentity(as other: CallPlan) -> Bool { identity == other.identity }
}

extension CallPlan {
  /// Whether values of `type` fit place `place`; 0 is the result. Found out once for each structure.
  func accepts<Value: CallValue>(
    _ type: Value.Type, _ kind: ValueKind, place: Int
  ) -> Bool {
    // Whatever travels as text is a String there.
    if kind.isSwiftValue { return Value.valueKind.isCString && swiftType(ofPlace: place) == .text }
    guard kind.isAggregate else {
      return Value.valueKind.fits(kind) || isPromoted(type, place)
    }
    // What is stored and loaded decides, not what else the type conforms to.
    guard let structure = unsafe Value._callFacts(0).structure else { return false }
    let key = unsafe CallPlan.key(of: structure)
    if unsafe fwd_is_known_match(facts, place, key) != 0 { return true }
    guard CallPlan.misfit(structure, self.type(ofPlace: place)) == nil else { return false }
    unsafe fwd_remember_match(facts, place, key)
    return true
  }

  /// The key by which a match is remembered: the structure whose bytes are stored. The type of a
  /// value may travel as another one in another module.
  @inlinable @unsafe
  static func key(of structure: any CallStructure.Type) -> UnsafeRawPointer {
    unsafe unsafeBitCast(ObjectIdentifier(structure), to: UnsafeRawPointer.self)
  }

  /// Whether a variadic argument was declared as `type` before C's promotions.
  private func isPromoted<Value: CallValue>(_ type: Value.Type, _ place: Int) -> Bool {
    guard place > 0 else { return false }
    let slot = unsafe slots[place - 1]
    return slot.declared != slot.kind && ValueKind(raw: slot.declared) == Value.valueKind
  }

  func type(ofPlace place: Int) -> TypeEncoding {
    let signature = self.signature
    return place == 0 ? signature.resultType : signature.argumentTypes[place - 1]
  }
}
