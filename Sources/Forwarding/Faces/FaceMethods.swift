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
  private let table: MethodTable
  private let actor: (any Actor)?
  private let selectors = Guarded<[Selector]>([])
  private let optional = Guarded<[ProtocolDescription.Requirement]>([])

  /// Calls `declare` once for a class and a face. The isolation is that of the protocol: a global actor, or
  /// none.
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
    let methods = FaceMethods(table: MethodTable.of(Object.self), actor: isolation)
    declare(methods)
    methods.adopt(face)
    // An object with methods of its own is asked for them first.
    let hasOwnMethods = Object.self is any MethodProviding.Type
    let part =
      hasOwnMethods ? nil : WitnessRecords.Part(target, methods.selectors.read { $0 })
    WitnessRecords.add(Object.self, face, part, bases: bases)
  }

  /// Lets the objects answer a requirement. A method that their class has for its message stays.
  public func answer<Result, each Argument>(
    _ requirement: Requirement<Result, repeat each Argument>,
    _ body: FaceBody<Object>
  ) {
    add(requirement, isOptional: false, body)
  }

  /// Lets the objects answer an optional requirement: one whose default implementation says that it ran.
  public func answer<Result, each Argument>(
    optional requirement: Requirement<Result, repeat each Argument>,
    _ body: FaceBody<Object>
  ) {
    add(requirement, isOptional: true, body)
  }

  private func add<Result, each Argument>(
    _ requirement: Requirement<Result, repeat each Argument>, isOptional: Bool,
    _ body: FaceBody<Object>
  ) {
    // The macro writes the types of both; a body of others is none of this requirement's.
    guard let plan = requirement.prepared?.plan, let method = body.implementation,
      method.plan === plan
    else {
      return
    }
    let selector = requirement.selector
    selectors.withLock { $0.append(selector) }
    unsafe method.isOfFace = true
    if isOptional {
      optional.withLock {
        $0.append(.init(selector: selector, signature: plan.signature, isRequired: false))
      }
    }
    // An async one goes to the actor itself.
    guard let actor, !method.isAwaited else { return table.declare(selector, method) }
    let checked = Implementation(method, unless: { try Isolation.check(that: actor, selector) })
    unsafe checked.isOfFace = true
    table.declare(selector, checked)
  }

  /// Lets the class know the optional requirements as messages, so that one which nobody answers is not taken
  /// for a mistyped name.
  private func adopt(_ face: AnyClass) {
    let optional = optional.read { $0 }
    if optional.isEmpty { return }
    table.adopt(ProtocolDescription(String(reflecting: face), optional))
  }
}
