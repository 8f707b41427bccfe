/// Where a face says how the objects of a class answer.
///
/// Faces are written by `@Forwardable`; nobody else needs this.
///
/// ```swift
/// final class Door {}
/// func prepare(_ closing: FaceBody<Door>) {
///   FaceMethods<Door>.prepare(for: Door.self, Door()) { methods in
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
  private let methods = Guarded<[(selector: Selector, method: Implementation)]>([])
  private let optional = Guarded<[ProtocolDescription.Requirement]>([])

  init(table: MethodTable, actor: (any Actor)?, conformance: ConformanceIsolation) {
    self.table = table
    self.actor = actor
    self.conformance = conformance
  }

  /// Calls `declare` once for a class and a face. The isolation is that of the protocol: a global actor, or
  /// none. Where the class conforms on one, its methods are for that one.
  ///
  /// - Parameters:
  ///   - target: a target of the class, as a value of the protocol.
  ///   - bases: the faces of the protocols that the protocol inherits, which know the class.
  public static func prepare<Target>(
    for face: AnyClass, _ target: Target, bases: [AnyClass] = [],
    isolation: isolated (any Actor)? = #isolation, _ declare: (FaceMethods<Object>) -> Void
  ) {
    if WitnessRecords.knows(Object.self, face) { return }
    // Two threads may both do it: the second one finds the methods there.
    let methods = FaceMethods(
      table: MethodTable.of(Object.self), actor: isolation,
      conformance: (face as? any ForwardingFace.Type).map { conformance(to: $0) } ?? .none)
    declare(methods)
    let made = methods.declare()
    methods.adopt(face)
    let part = methods.isCallable ? made : nil
    WitnessRecords.add(
      Object.self, face, part.flatMap { WitnessRecords.Part(target, $0) },
      isIsolated: isolation != nil,
      bases: bases)
  }

  /// Gives the class the methods that it has none for, and returns the selectors of all.
  @discardableResult
  func declare() -> [Selector] {
    let made = methods.read { $0 }
    table.declare(made)
    return made.map(\.selector)
  }

  /// Whether the face may call the objects: those with methods of their own are asked for them first, and those of
  /// an actor are called there alone.
  private var isCallable: Bool {
    if case .none = conformance { !table.providesMethods } else { false }
  }

  private static func conformance<Face: ForwardingFace>(
    to face: Face.Type
  ) -> ConformanceIsolation {
    ConformanceIsolation(of: Object.self, to: Face.__Target.self)
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
    let own = guarded(method, selector, isSendable).markedAsOfFace
    methods.withLock { $0.append((selector, own)) }
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
