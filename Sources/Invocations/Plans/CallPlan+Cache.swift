// SPDX-License-Identifier: Apache-2.0
public import TypeEncodings

extension CallPlan {
  /// The maximum number of plans that the shared cache retains.
  package static let cacheCapacity = 4096

  /// The plans that equal signatures share, as calls compare plans by address.
  private struct Shared: Sendable {
    /// Retained plans, of signatures of the program's own text: there are finitely many. And weak
    /// references to the plans of other signatures, which their users retain.
    var plans: [[UInt8]: ObjectReference] = [:]
    var keptCount = 0
    /// Weak references to the leaders of interchangeable plans.
    var leaders: [[UInt8]: ObjectReference] = [:]

    /// The plan for a key, if there is one. With `isKept`, the cache retains it from now on.
    mutating func find(_ key: [UInt8], isKept: Bool) -> CallPlan? {
      guard let known = plans[key], let plan = known.object as? CallPlan else { return nil }
      if isKept, !known.isStrong { add(plan, key, isKept: true) }
      return plan
    }

    mutating func add(_ plan: CallPlan, _ key: [UInt8], isKept: Bool) {
      let isStrong = isKept && keptCount < cacheCapacity
      if isStrong { keptCount += 1 }
      plans[key] = ObjectReference(plan, isStrong: isStrong)
    }

    /// The plan whose address a send compares in place of the address of `plan`.
    mutating func leader(of plan: CallPlan) -> CallPlan? {
      guard let identity = plan.identity else { return nil }
      if let known = leaders[identity]?.object as? CallPlan { return known }
      leaders[identity] = ObjectReference(plan, isStrong: false)
      return nil
    }
  }

  private static let shared = Guarded(Shared())

  package static var cacheCount: Int { shared.read { $0.keptCount } }

  /// Returns the plan that all equal signatures share.
  ///
  /// The cache retains the plans of signatures that are part of the program's text. Plans of
  /// signatures that were parsed from other strings live as long as their users, and leave nothing
  /// in the cache.
  ///
  /// - Parameters:
  ///   - signature: the types of the result and the arguments.
  ///   - fixedArgumentCount: for a variadic function, the number of arguments before its `...`. The
  ///     others get C's default promotions.
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)`` if `fixedArgumentCount` is
  ///   negative or exceeds the number of arguments; ``InvocationError/encoding(_:)``,
  ///   ``InvocationError/unsupportedValue(index:signature:)`` or ``InvocationError/tooLarge(_:)``
  ///   if a type cannot be laid out or passed by value; ``InvocationError/outOfMemory``.
  public static func shared(
    for signature: MethodSignature, fixedArgumentCount: Int? = nil
  ) throws(InvocationError) -> CallPlan {
    if fixedArgumentCount != nil {
      return try shared(for: signature, fixedArgumentCount: fixedArgumentCount, swiftTypes: [])
    }
    if let known = unsafe borrowed(from: signature) {
      return withExtendedLifetime(signature) { unsafe known.takeUnretainedValue() }
    }
    let plan = try shared(for: signature, swiftTypes: [])
    signature.remember(
      unsafe UInt(bitPattern: Unmanaged.passUnretained(plan).toOpaque()),
      keeping: SignatureMemo(plan))
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
    let made = try CallPlan(
      signature, fixedArgumentCount: fixedArgumentCount, swiftTypes, key: key)
    // Another thread may have added its plan first, and then that plan is the shared one. This plan
    // must die outside of the lock, because its `deinit` takes the lock.
    return withExtendedLifetime(made) {
      shared.withLockInPlace { shared in
        if let known = shared.find(key, isKept: isKept) { return known }
        shared.add(made, key, isKept: isKept)
        made.follow(shared.leader(of: made))
        return made
      }
    }
  }

  /// The plan that a signature remembers and retains, once it was passed to `shared`.
  @unsafe
  static func borrowed(from signature: MethodSignature) -> Unmanaged<CallPlan>? {
    // SAFETY: the word is the address of the plan, and valid as long as the signature.
    unsafe UnsafeRawPointer(bitPattern: signature.remembered).map { unsafe .fromOpaque($0) }
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

  /// Removes the plan from the cache when it dies, where no new plan has replaced it.
  func leaveShared() {
    Self.shared.withLockInPlace { shared in
      let own = ObjectIdentifier(self)
      if shared.plans[key]?.identity == own { shared.plans[key] = nil }
      if let identity, shared.leaders[identity]?.identity == own { shared.leaders[identity] = nil }
    }
  }
}

extension MethodSignature {
  /// Makes the signature of a literal. Its plan is kept for the life of the process, so parse text from
  /// outside the program with `init(parsing:)`.
  ///
  /// - Throws: `TypeEncodingError` if the literal is not a valid signature.
  public init(_ literal: StaticString) throws(TypeEncodingError) {
    try self.init(ofProgramText: literal.description)
  }

  /// Parses a literal, or text that was spelled from Swift types: a program has finitely many.
  init(ofProgramText text: String) throws(TypeEncodingError) {
    try self.init(utf8: Array(text.utf8), isStatic: true)
  }

  /// Whether calls of the two signatures are interchangeable: see
  /// ``CallPlan/isInterchangeable(with:)``.
  package func isInterchangeable(with other: MethodSignature) -> Bool {
    if self == other { return true }
    guard let own = CallPlan.identity(self, nil) else { return false }
    return own == CallPlan.identity(other, nil)
  }
}
