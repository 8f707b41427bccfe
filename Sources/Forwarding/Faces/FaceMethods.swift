/// Where a face says how the objects of a class answer.
///
/// Faces are written by `@Forwardable`; nobody else needs this.
///
/// ```swift
/// final class Door {}
/// func prepare(_ closing: FaceBody<Door>) {
///   FaceMethods<Door>.prepare(for: Door.self) { methods in
///     methods.answer(Requirement<Void>("close"), closing)
///   }
/// }
/// ```
public struct FaceMethods<Object: AnyObject> {
  let table: MethodTable
  /// The actor of the protocol.
  let actor: (any Actor)?
  /// That of the class, where it conforms on one.
  let conformance: ConformanceIsolation
  private let optional = Guarded<[ProtocolDescription.Requirement]>([])

  init(table: MethodTable, actor: (any Actor)?, conformance: ConformanceIsolation) {
    self.table = table
    self.actor = actor
    self.conformance = conformance
  }

  /// Calls `declare` once for a class and a face. The isolation is that of the protocol: a global actor, or
  /// none. Where the class conforms on one, its methods are for that one.
  public static func prepare(
    for face: AnyClass, isolation: isolated (any Actor)? = #isolation,
    _ declare: (FaceMethods<Object>) -> Void
  ) {
    let key = Prepared(object: ObjectIdentifier(Object.self), face: ObjectIdentifier(face))
    if prepared.read({ $0.contains(key) }) { return }
    // Two threads may both do it: the second one finds the methods there.
    let methods = FaceMethods(
      table: MethodTable.of(Object.self), actor: isolation,
      conformance: (face as? any ForwardingFace.Type).map { conformance(to: $0) } ?? .none)
    declare(methods)
    methods.adopt(face)
    prepared.withLockInPlace { _ = $0.insert(key) }
  }

  private static func conformance<Face: ForwardingFace>(
    to face: Face.Type
  ) -> ConformanceIsolation {
    ConformanceIsolation(of: Object.self, to: Face.Target.self)
  }

  /// Lets the objects answer a requirement. A method that their class has for its message stays.
  public func answer<Result, each Argument>(
    _ requirement: Requirement<Result, repeat each Argument>,
    _ body: FaceBody<Object>
  ) {
    add(requirement, isOptional: false, isSendable: false, body)
  }

  /// The same for one whose values may go to another actor.
  public func answer<Result: Sendable, each Argument: Sendable>(
    _ requirement: Requirement<Result, repeat each Argument>,
    _ body: FaceBody<Object>
  ) {
    add(requirement, isOptional: false, isSendable: true, body)
  }

  /// Lets the objects answer an optional requirement: one whose default implementation says that it ran.
  public func answer<Result, each Argument>(
    optional requirement: Requirement<Result, repeat each Argument>,
    _ body: FaceBody<Object>
  ) {
    add(requirement, isOptional: true, isSendable: false, body)
  }

  /// The same for one whose values may go to another actor.
  public func answer<Result: Sendable, each Argument: Sendable>(
    optional requirement: Requirement<Result, repeat each Argument>,
    _ body: FaceBody<Object>
  ) {
    add(requirement, isOptional: true, isSendable: true, body)
  }

  private func add<Result, each Argument>(
    _ requirement: Requirement<Result, repeat each Argument>, isOptional: Bool, isSendable: Bool,
    _ body: FaceBody<Object>
  ) {
    // The macro writes the types of both; a body of others is none of this requirement's.
    guard let plan = requirement.prepared?.plan, let method = body.implementation,
      method.plan === plan
    else {
      return
    }
    let selector = requirement.selector
    if isOptional {
      optional.withLock {
        $0.append(.init(selector: selector, signature: plan.signature, isRequired: false))
      }
    }
    table.declare(selector, guarded(method, selector, isSendable))
  }

  /// The method, for its actor alone.
  private func guarded(
    _ method: Implementation, _ selector: Selector, _ isSendable: Bool
  ) -> Implementation {
    switch conformance {
    case .none:
      // An async one goes to the actor of its protocol itself.
      guard let actor, !method.isAwaited else { return method }
      return Implementation(method, unless: { try Isolation.check(that: actor, selector) })
    case .actor(let actor):
      return Implementation(
        method, hoppingTo: isSendable ? actor : nil,
        unless: { try Isolation.check(that: actor, selector) })
    case .unknown:
      return Implementation(
        method, hoppingTo: nil, unless: { throw ForwardingError.wrongIsolation(selector) })
    }
  }

  /// Lets the class know the optional requirements as messages, so that one which nobody answers is not taken
  /// for a mistyped name.
  private func adopt(_ face: AnyClass) {
    let optional = optional.read { $0 }
    if optional.isEmpty { return }
    table.adopt(ProtocolDescription(String(reflecting: face), optional))
  }
}

private struct Prepared: Hashable {
  let object: ObjectIdentifier
  let face: ObjectIdentifier
}

private let prepared = Guarded<Set<Prepared>>([])
