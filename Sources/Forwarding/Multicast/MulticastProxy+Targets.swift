extension MulticastProxy {
  /// The registrations as they are now.
  var snapshot: [Registration] { registrations.withLockInPlace { _ in targetList.all } }

  /// The first target, if it is alive: to list all takes as long as there are many.
  private var firstTarget: AnyObject? {
    registrations.withLockInPlace { _ in targetList.first }?.object
  }

  /// The wishes for a registration as they are now.
  func wishes(of registration: Registration) -> Registration.Wishes {
    registrations.withLockInPlace { _ in registration.wishes }
  }

  func withRegistration<Result>(_ token: Token, _ body: (Registration) -> Result) -> Result? {
    registrations.withLockInPlace { $0.find(token).map(body) }
  }

  /// How many registrations there are, those of dead targets that nobody met yet included.
  public var registrationCount: Int { registrations.withLockInPlace { $0.count } }

  /// How many targets are alive.
  public var count: Int { snapshot.count { $0.object != nil } }

  /// Whether no target is alive.
  public var isEmpty: Bool { count == 0 }

  /// The targets that are alive, in the order of delivery.
  public var targets: [AnyObject] { snapshot.compactMap { $0.object } }

  /// Whether an object is registered.
  public func contains(_ target: AnyObject) -> Bool {
    let target = ObjectIdentifier(target)
    return registrations.withLockInPlace { $0.contains(target) }
  }

  /// Whether a registration is there.
  public func contains(_ token: Token) -> Bool { withRegistration(token) { _ in } != nil }

  /// The targets of a class.
  public func targets<Target: AnyObject>(of type: Target.Type) -> [Target] {
    targets.compactMap { $0 as? Target }
  }

  /// The targets that answer a selector.
  public func targets(respondingTo selector: Selector) -> [AnyObject] {
    targets.filter { Introspection.responds($0, to: selector) }
  }
}

extension MulticastProxy {
  /// Blocks a registration; it gets no messages until it is unblocked as often. False if it is gone.
  @discardableResult
  public func block(_ token: Token) -> Bool {
    withRegistration(token) { $0.block() } != nil
  }

  /// Takes one block back; false if there was none, or the registration is gone.
  @discardableResult
  public func unblock(_ token: Token) -> Bool {
    withRegistration(token) { $0.unblock() } ?? false
  }
}

extension MulticastProxy {
  package func targetMethod(for selector: Selector) -> Implementation? {
    (firstTarget ?? targets.first).flatMap { Introspection.classMethod(of: $0, for: selector) }
  }
}
