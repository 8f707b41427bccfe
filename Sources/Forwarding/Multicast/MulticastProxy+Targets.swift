// SPDX-License-Identifier: Apache-2.0
extension MulticastProxy {
  /// The current registrations, in the order of delivery.
  var snapshot: [Registration] { registrations.withLockInPlace { _ in targetList.all } }

  /// The current options of a registration.
  func wishes(of registration: Registration) -> Registration.Wishes {
    registrations.withLockInPlace { _ in registration.wishes }
  }

  func withRegistration<Result>(_ token: ForwardingToken, _ body: (Registration) -> Result)
    -> Result?
  {
    registrations.withLockInPlace { $0.find(token).map(body) }
  }

  /// The number of registrations, including those of dead targets that no delivery has found yet.
  public var registrationCount: Int { registrations.withLockInPlace { $0.count } }

  /// The number of targets that are alive.
  ///
  /// - Complexity: O(*n*) for *n* registrations.
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

  /// Whether a registration exists.
  public func contains(_ token: ForwardingToken) -> Bool { withRegistration(token) { _ in } != nil }

  /// The targets of a class.
  public func targets<Target: AnyObject>(of type: Target.Type) -> [Target] {
    targets.compactMap { $0 as? Target }
  }

  /// The targets that respond to a selector.
  public func targets(respondingTo selector: Selector) -> [AnyObject] {
    targets.filter { Introspection.responds($0, to: selector) }
  }
}

extension MulticastProxy {
  /// Suspends a registration: its target gets no messages until each suspension is undone.
  ///
  /// - Returns: false if the registration was removed.
  @discardableResult
  public func suspend(_ token: ForwardingToken) -> Bool {
    withRegistration(token) { $0.block() } != nil
  }

  /// Undoes one suspension of a registration.
  ///
  /// - Returns: false if it was not suspended, or was removed.
  @discardableResult
  public func resume(_ token: ForwardingToken) -> Bool {
    withRegistration(token) { $0.unblock() } ?? false
  }
}
