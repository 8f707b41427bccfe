public import TypeEncodings

extension CallPlan {
  /// How many plans the shared cache keeps alive at most.
  package static let cacheCapacity = 4096

  /// The plans that equal signatures share. Calls compare plans by identity: two plans of one
  /// signature would both work, but the faster ways would not be taken.
  private struct Shared: Sendable {
    /// Of signatures of the program's own text: there are finitely many.
    var kept: [[UInt8]: CallPlan] = [:]
    /// Of signatures from anywhere: for as long as somebody uses them.
    var used: [[UInt8]: ObjectReference] = [:]
    /// What plans have in common that may stand in for one another.
    var identities: [[UInt8]: ObjectReference] = [:]

    /// The plan of a signature, if there is one. `isKept`: from now on for good.
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
  package static var usedCount: Int { shared.read { $0.used.count } }

  /// Returns the plan that all equal signatures share.
  ///
  /// The plan of a signature of the program's own text is kept for good; one of a signature that was
  /// parsed from any other string lives as long as its users, and leaves nothing behind.
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

  /// Returns the plan that all equal signatures share whose places have these types: the result's, then the
  /// arguments'; nil for those that are as C has them.
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
    // Another thread may have been faster; then its plan is the one to share, and this one ends, but
    // not under the lock, which its end takes.
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

  /// A plan that a signature has remembered, and that is not counted if the signature keeps it.
  @unsafe
  struct Borrowed {
    // SAFETY: good until it is given back, and no longer than the signature.
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

  /// The plan that a signature has remembered: one that it was asked for before keeps its plan, and that of
  /// a plan knows it.
  @unsafe
  static func borrowed(from signature: MethodSignature) -> Borrowed? {
    // SAFETY: the address of a reference to a plan, which the signature keeps.
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

  /// The plan that an encoding of the program's user describes.
  static func shared(
    forEncoding encoding: String, fixedArgumentCount: Int?
  ) throws(InvocationError) -> CallPlan {
    let signature = try InvocationError.wrapping { () throws(TypeEncodingError) in
      try MethodSignature(parsing: encoding)
    }
    return try shared(for: signature, fixedArgumentCount: fixedArgumentCount)
  }

  /// Removes the plan from the cache at its end, if others could find it there.
  func leaveShared() {
    Self.shared.withLockInPlace { shared in
      // A new plan may have taken the place.
      guard shared.used[key]?.identity == ObjectIdentifier(self) else { return }
      shared.used[key] = nil
    }
  }

  /// Removes what plans have in common from the cache at its end.
  fileprivate static func leaveShared(_ identity: SharedIdentity) {
    shared.withLockInPlace { shared in
      guard shared.identities[identity.bytes]?.identity == ObjectIdentifier(identity) else {
        return
      }
      shared.identities[identity.bytes] = nil
    }
  }
}

/// What shared plans have in common if their signatures differ only in what addresses point at. A
/// send compares its address.
final class SharedIdentity: Sendable {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  deinit { CallPlan.leaveShared(self) }
}

extension MethodSignature {
  /// Whether calls of the two are alike: see ``CallPlan/isInterchangeable(with:)``.
  package func isInterchangeable(with other: MethodSignature) -> Bool {
    if self == other { return true }
    guard let own = CallPlan.identity(self, nil) else { return false }
    return own == CallPlan.identity(other, nil)
  }
}
