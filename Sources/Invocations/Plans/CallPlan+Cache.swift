// SPDX-License-Identifier: Apache-2.0
public import TypeEncodings

extension CallPlan {
  /// The maximum number of plans that the shared cache retains.
  package static let cacheCapacity = 4096

  /// The plans that equal signatures share. Calls compare plans by address, so two plans of one
  /// signature would both work, but only along the slow paths.
  private struct Shared: Sendable {
    /// Retained plans, of signatures of the program's own text: there are finitely many.
    var kept: [[UInt8]: CallPlan] = [:]
    /// Weak references to the plans of other signatures, which their users retain.
    var used: [[UInt8]: ObjectReference] = [:]
    /// Weak references to the identities that interchangeable plans share.
    var identities: [[UInt8]: ObjectReference] = [:]

    /// The plan for a key, if there is one. With `isKept`, the cache retains it from now on.
    mutating func find(_ key: [UInt8], isKept: Bool) -> CallPlan? {
      if let plan = kept[key] { return plan }
      guard let plan = used[key]?.object as? CallPlan else { return nil }
      if isKept { add(plan, key, isKept: true) }
      return plan
    }

    mutating func identity(_ bytes: [UInt8]) -> SharedIdentity {
      if let known = identities[bytes]?.object as? SharedIdentity { return known }
      let made = SharedIdentity(bytes)
      identities[bytes] = ObjectReference(made, isStrong: false)
      return made
    }

    mutating func add(_ plan: CallPlan, _ key: [UInt8], isKept: Bool) {
      if isKept, kept.count < cacheCapacity {
        kept[key] = plan
        used[key] = nil
      } else {
        used[key] = ObjectReference(plan, isStrong: false)
      }
    }
  }

  private static let shared = Guarded(Shared())

  package static var cacheCount: Int { shared.read { $0.kept.count } }

  /// Returns the plan that all equal signatures share.
  ///
  /// The cache retains the plans of signatures that are part of the program's text. Plans of
  /// signatures that were parsed from other strings live as long as their users, and leave nothing
  /// in the cache.
  ///
  /// - Throws: The errors of ``init(_:fixedArgumentCount:)``.
  public static func shared(
    for signature: MethodSignature, fixedArgumentCount: Int? = nil
  ) throws(InvocationError) -> CallPlan {
    if fixedArgumentCount != nil {
      return try shared(for: signature, fixedArgumentCount: fixedArgumentCount, swiftTypes: [])
    }
    if let known = remembered(with: signature) { return known }
    let plan = try shared(for: signature, swiftTypes: [])
    plan.remember(with: signature, isKept: true)
    return plan
  }

  /// Returns the plan that all equal signatures with these Swift types share. The types are those
  /// of the result and then of the arguments, with nil for C types.
  package static func shared(
    for signature: MethodSignature, fixedArgumentCount: Int? = nil, swiftTypes: [SwiftType?]
  ) throws(InvocationError) -> CallPlan {
    let key = key(signature, fixedArgumentCount, swiftTypes)
    let isKept = signature.isStatic
    if let known = shared.withLockInPlace({ $0.find(key, isKept: isKept) }) { return known }
    let identity = identity(signature, fixedArgumentCount, swiftTypes).map { bytes in
      shared.withLockInPlace { $0.identity(bytes) }
    }
    let made = try CallPlan(
      signature, fixedArgumentCount: fixedArgumentCount, swiftTypes, key: key, shared: identity)
    // Another thread may have added its plan first, and then that plan is the shared one. This plan
    // must die outside of the lock, because its `deinit` takes the lock.
    return withExtendedLifetime(made) {
      shared.withLockInPlace { shared in
        if let known = shared.find(key, isKept: isKept) { return known }
        if fixedArgumentCount == nil, swiftTypes.isEmpty {
          made.remember(with: made.signature, isKept: false)
        }
        shared.add(made, key, isKept: isKept)
        return made
      }
    }
  }

  /// A plan that a signature remembers. It is not retained if the signature retains it.
  @unsafe
  struct Borrowed {
    // SAFETY: valid until `giveBack()`, and no longer than the signature.
    let plan: Unmanaged<CallPlan>
    private let reference: Unmanaged<ObjectReference>

    fileprivate init?(_ word: UnsafeRawPointer) {
      unsafe reference = .fromOpaque(word)
      let address = unsafe reference._withUnsafeGuaranteedRef { unsafe $0.retained() }
      guard let address = unsafe address else { return nil }
      unsafe plan = .fromOpaque(address)
    }

    func isMethod(withArguments count: Int) -> Bool {
      unsafe plan._withUnsafeGuaranteedRef { $0.isMethod && $0.argumentCount == count + 2 }
    }

    func giveBack() {
      unsafe reference._withUnsafeGuaranteedRef { unsafe $0.release(plan.toOpaque()) }
    }
  }

  /// The plan that a signature remembers. A signature that was passed to `shared` retains its plan;
  /// the signature of a plan has a weak reference to the plan.
  @unsafe
  static func borrowed(from signature: MethodSignature) -> Borrowed? {
    // SAFETY: the word is the address of a reference to a plan, which the signature retains.
    unsafe UnsafeRawPointer(bitPattern: signature.remembered).flatMap { unsafe Borrowed($0) }
  }

  private static func remembered(with signature: MethodSignature) -> CallPlan? {
    guard let known = unsafe borrowed(from: signature) else { return nil }
    defer { unsafe known.giveBack() }
    return unsafe known.plan.takeUnretainedValue()
  }

  private func remember(with signature: MethodSignature, isKept: Bool) {
    let reference = ObjectReference(self, isStrong: isKept)
    signature.remember(
      unsafe UInt(bitPattern: Unmanaged.passUnretained(reference).toOpaque()),
      keeping: SignatureMemo(reference))
  }

  /// The plan for an encoding that the user of the package passed as a string.
  static func shared(
    forEncoding encoding: String, fixedArgumentCount: Int?
  ) throws(InvocationError) -> CallPlan {
    if let error = TypeEncodingError.nameOfType(encoding) { throw .encoding(error) }
    let signature = try InvocationError.wrapping { () throws(TypeEncodingError) in
      try MethodSignature(parsing: encoding)
    }
    return try shared(for: signature, fixedArgumentCount: fixedArgumentCount)
  }

  /// Removes the plan from the cache when it dies, if it is there.
  func leaveShared() {
    Self.shared.withLockInPlace { shared in
      // A new plan may have replaced this one.
      guard shared.used[key]?.identity == ObjectIdentifier(self) else { return }
      shared.used[key] = nil
    }
  }

  /// Removes an identity from the cache when it dies.
  fileprivate static func leaveShared(_ identity: SharedIdentity) {
    shared.withLockInPlace { shared in
      guard shared.identities[identity.bytes]?.identity == ObjectIdentifier(identity) else {
        return
      }
      shared.identities[identity.bytes] = nil
    }
  }
}

/// The identity of shared plans whose signatures differ only in pointee types. A send compares its
/// address.
final class SharedIdentity: Sendable {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  deinit { CallPlan.leaveShared(self) }
}

extension MethodSignature {
  /// Whether calls of the two signatures are interchangeable: see
  /// ``CallPlan/isInterchangeable(with:)``.
  func isInterchangeable(with other: MethodSignature) -> Bool {
    if self == other { return true }
    guard let own = CallPlan.identity(self, nil) else { return false }
    return own == CallPlan.identity(other, nil)
  }
}
