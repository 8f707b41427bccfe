public import TypeEncodings

extension CallPlan {
  /// How many plans the shared cache holds at most.
  package static let cacheCapacity = 4096

  private static let cache = Guarded<[[UInt8]: CallPlan]>([:])

  package static var cacheCount: Int { cache.withLock { $0.count } }

  /// Gives the plan that all equal signatures share.
  ///
  /// A signature of the program's own text enters the cache; one that was parsed from any other
  /// string finds what is there, but leaves nothing behind.
  public static func shared(
    for signature: MethodSignature, fixedArgumentCount: Int? = nil
  ) throws(InvocationError) -> CallPlan {
    let key = identity(signature, fixedArgumentCount)
    if let known = cache.withLock({ $0[key] }) { return known }
    let made = try CallPlan(signature, fixedArgumentCount: fixedArgumentCount, identity: key)
    guard signature.isStatic else { return made }
    // Another thread may have been faster; then its plan is the one to share.
    return cache.withLock { plans in
      if let known = plans[key] { return known }
      if plans.count < cacheCapacity { plans[key] = made }
      return made
    }
  }
}
