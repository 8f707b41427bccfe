extension MulticastProxy {
  /// The registrations as they are now.
  var snapshot: [MulticastMember] { members.withLockInPlace { $0.show() }.members }

  /// Looks at the registrations while nobody changes them.
  func withMembers(_ body: ([MulticastMember]) -> Void) {
    members.withLockInPlace { body($0.show().members) }
  }

  /// How many registrations there are, those of dead targets that nobody met yet included.
  public var registrationCount: Int { members.read { $0.count } }

  /// How many targets are alive.
  public var count: Int { snapshot.count { $0.reference.object != nil } }

  /// Whether no target is alive.
  public var isEmpty: Bool { count == 0 }

  /// The targets that are alive, in the order of delivery.
  public var targets: [AnyObject] { snapshot.compactMap(\.reference.object) }

  /// Whether an object is registered.
  public func contains(_ target: AnyObject) -> Bool {
    members.read { $0.contains(ObjectIdentifier(target)) }
  }

  /// Whether a registration is there.
  public func contains(_ token: Token) -> Bool { withMember(token) { _ in } != nil }

  /// The targets of a class.
  public func targets<Target: AnyObject>(of type: Target.Type) -> [Target] {
    targets.compactMap { $0 as? Target }
  }

  /// The targets that answer a selector.
  public func targets(respondingTo selector: Selector) -> [AnyObject] {
    targets.filter { Introspection.responds($0, to: selector) }
  }
}
