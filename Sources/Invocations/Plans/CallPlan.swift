// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims
import Synchronization
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
/// Making a plan is slow, because every argument is classified and placed; using one is fast. Plans
/// are immutable, so all threads can share one.
///
/// - Important: A plan knows the *types* of a call, never the function. Calling a function whose
///   real C type differs from the plan is undefined behavior.
@safe
public final class CallPlan: Sendable {
  /// The signature that the plan was made for.
  public let signature: MethodSignature
  /// The number of arguments before the `...` of a variadic function; nil for other functions.
  public let fixedArgumentCount: Int?

  // SAFETY: set once in `init`, freed once in `deinit`, and only read in between. The C core allows
  // concurrent reads.
  @usableFromInline package nonisolated(unsafe) let handle: OpaquePointer
  @usableFromInline nonisolated(unsafe) let facts: UnsafePointer<FWDPlanFacts>
  @usableFromInline nonisolated(unsafe) let slots: UnsafePointer<FWDSlot>
  @usableFromInline nonisolated(unsafe) let result: UnsafePointer<FWDSlot>
  @usableFromInline let argumentCount: Int
  var returnsValue: Bool { unsafe facts.pointee.returns_value != 0 }
  package let frameSize: Int
  /// The size of a call's memory: its state, its frame, and its ownership bits.
  @usableFromInline let callSize: Int
  /// Whether the signature is that of a method of an object.
  let isMethod: Bool

  /// The Swift types of the places that hold the address of a value, the result first; empty if the
  /// plan has no such place.
  private let swiftTypes: [SwiftType?]
  /// Whether an argument is a variable that the sender lends, which other threads cannot use.
  let lendsVariables: Bool

  /// Whether copies of the arguments are all that a call needs to be made later, or on another thread: none
  /// refers to memory of the sender, and there is no result.
  package let travels: Bool
  /// The number of words in a ``KeptCall``.
  let keptWords: Int

  /// Whether a place that is spelled as a C string holds a Swift `String`.
  let hasSwiftText: Bool
  private let knownNative = AtomicLazyReference<CallPlan>()
  /// Whether a protocol says of a message with this plan how several answers become one.
  let isCombined = Atomic(false)

  /// The cache key of shared plans. Equal signatures have equal keys.
  let key: [UInt8]
  /// The key without the pointee types of unowned addresses, for a plan that has one. Plans with equal
  /// identities are interchangeable.
  let identity: [UInt8]?
  /// The first of the plans with an equal identity, whose address stands for it in sends.
  private let leader = AtomicLazyReference<CallPlan>()

  /// Makes a plan for the shared ones, which `follow` completes.
  init(
    _ signature: MethodSignature, fixedArgumentCount: Int?, _ swiftTypes: [SwiftType?], key: [UInt8]
  ) throws(InvocationError) {
    SwiftRuntime.isKnown
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
      values, count, fixedArgumentCount ?? Int.max, &plan, &blamed)
    guard let plan = unsafe plan else { throw Self.error(status, blamed, signature) }
    // A signature retains the plan that it remembers. The plan stores a copy that remembers none,
    // because the two would otherwise retain each other.
    self.signature = MethodSignature(remindedOfNothing: signature)
    self.fixedArgumentCount = fixedArgumentCount
    self.key = key
    identity = Self.identity(signature, fixedArgumentCount, swiftTypes)
    unsafe handle = plan
    unsafe facts = fwd_plan_facts(plan)
    unsafe slots = facts.pointee.slots
    unsafe result = fwd_facts_result(facts)
    unsafe frameSize = Int(facts.pointee.frame_size)
    unsafe callSize =
      MemoryLayout<FWDInvocationState>.stride + frameSize
      + Int(facts.pointee.owned_words) * 8
    argumentCount = count
    // A class as the receiver (`#`) is not an object on Linux, and cannot receive messages.
    isMethod = unsafe signature.shape == .method && slots[0].kind == .object
    let declared = unsafe UnsafeBufferPointer(start: slots, count: count).dropFirst(2)
    unsafe keptWords = declared.reduce(0) { words, slot in
      unsafe words + withUnsafePointer(to: slot) { unsafe Int(fwd_slot_words($0)) }
    }
    unsafe travels =
      isMethod && facts.pointee.returns_value == 0 && !lendsVariables
      && declared.allSatisfy { slot in !slot.kind.isAggregate && !slot.kind.isUnownedPointer }
  }

  /// Gives the plan the identity of its leader, or its own. Called once, before the plan is used.
  func follow(_ leader: CallPlan?) {
    if let leader { _ = self.leader.storeIfNil(leader) }
    unsafe fwd_plan_set_swift_plan(
      handle, Unmanaged.passUnretained(self).toOpaque(),
      Unmanaged.passUnretained(leader ?? self).toOpaque(), hasSwiftText ? 1 : 0)
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

  /// Turns a C status into a Swift error. No other function does.
  static func error(
    _ status: FWDStatus, _ blamed: Int, _ signature: MethodSignature
  ) -> InvocationError {
    switch status {
    case .ok, .outOfMemory: .outOfMemory
    case .unsupportedValue: .unsupportedValue(index: blamed, signature: signature)
    case .tooLarge: .tooLarge(signature)
    }
  }

  static func key(
    _ signature: MethodSignature, _ fixed: Int?, _ swiftTypes: [SwiftType?]
  ) -> [UInt8] {
    signature.identity + suffix(fixed, swiftTypes)
  }

  /// The identity of a plan that takes or returns an unowned address, without the pointee types;
  /// nil for other plans, whose identity is their key.
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

  /// The part of a key that is not in the signature. Two types with equal names have different
  /// suffixes.
  private static func suffix(_ fixed: Int?, _ swiftTypes: [SwiftType?]) -> [UInt8] {
    let fixed = fixed.map { "...\($0)" } ?? ""
    let types = swiftTypes.map { type in
      type.map { " \(UInt(bitPattern: ObjectIdentifier($0.type)))" } ?? " "
    }
    return Array((fixed + types.joined()).utf8)
  }

  /// The plan with C strings in the places of Swift text; the plan itself without such places.
  var native: CallPlan {
    get throws(InvocationError) {
      if !hasSwiftText { return self }
      if let known = knownNative.load() { return known }
      let types = swiftTypes.map { $0 == .text ? nil : $0 }
      let made = try CallPlan.shared(
        for: signature, fixedArgumentCount: fixedArgumentCount,
        swiftTypes: types.allSatisfy { $0 == nil } ? [] : types)
      return knownNative.storeIfNil(made)
    }
  }

  /// Whether a method planned as `other` answers calls of this plan after its text is translated:
  /// the plans differ only in places that hold Swift text in one and C strings in the other.
  package func differsInText(from other: CallPlan) -> Bool {
    guard hasSwiftText || other.hasSwiftText, let one = try? native, let two = try? other.native
    else { return false }
    return one.isInterchangeable(with: two) && !isInterchangeable(with: other)
  }

  /// The Swift type of a place that holds the address of a value; nil for other places. Place 0 is
  /// the result.
  package func swiftType(ofPlace place: Int) -> SwiftType? {
    swiftTypes.isEmpty ? nil : swiftTypes[place]
  }

  /// Whether a function or method planned as `other` may be called through this plan.
  ///
  /// Their signatures must be equal, except for the pointee types of pointers, blocks and
  /// functions. C strings do not count as pointers here, because they are owned.
  ///
  /// - Complexity: O(1), one comparison of addresses.
  @inlinable
  package func isInterchangeable(with other: CallPlan) -> Bool {
    unsafe self === other || facts.pointee.identity == other.facts.pointee.identity
  }
}

extension CallPlan {
  /// Whether values of `type` fit place `place`; 0 is the result. The plan remembers the answer for
  /// each structure.
  func accepts<Value: CallValue>(
    _ type: Value.Type, _ kind: FWDKind, place: Int
  ) -> Bool {
    // A place of Swift text takes every type that is stored as text.
    if kind.isSwiftValue { return Value.valueKind.isCString && swiftType(ofPlace: place) == .text }
    guard kind.isAggregate else {
      return Value.valueKind.fits(kind) || isPromoted(type, place)
    }
    // The structure that is stored and loaded decides, not the other conformances of the type.
    guard let structure = unsafe Value._callFacts(0).structure else { return false }
    let key = unsafe CallPlan.key(of: structure)
    if unsafe fwd_is_known_match(facts, place, key) != 0 { return true }
    guard CallPlan.misfit(structure, self.type(ofPlace: place)) == nil else { return false }
    unsafe fwd_remember_match(facts, place, key)
    return true
  }

  /// The key under which a match is remembered: the structure whose bytes are stored. `Value`
  /// itself is no key, because another module may store it as another structure.
  @inlinable @unsafe
  static func key(of structure: any CallStructure.Type) -> UnsafeRawPointer {
    unsafe unsafeBitCast(ObjectIdentifier(structure), to: UnsafeRawPointer.self)
  }

  /// Whether a variadic argument had `type` before C's promotions.
  private func isPromoted<Value: CallValue>(_ type: Value.Type, _ place: Int) -> Bool {
    guard place > 0 else { return false }
    let slot = unsafe slots[place - 1]
    return slot.declared != slot.kind && slot.declared == Value.valueKind
  }

  func type(ofPlace place: Int) -> TypeEncoding {
    let signature = self.signature
    return place == 0 ? signature.resultType : signature.argumentTypes[place - 1]
  }
}
