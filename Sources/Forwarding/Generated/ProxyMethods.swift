// SPDX-License-Identifier: Apache-2.0
public import Invocations

/// Registers the methods with which the objects of a class answer the messages of a proxy.
@_documentation(visibility: internal)
public struct _ProxyMethods<Object: AnyObject> {
  let table: MethodTable
  /// The actor of the protocol; nil without one.
  let actor: (any Actor)?
  /// The actor that isolates the class's conformance.
  let conformance: ConformanceIsolation
  private let methods = Guarded<
    [(selector: Selector, method: Implementation, isOptional: Bool)]
  >([])

  init(table: MethodTable, actor: (any Actor)?, conformance: ConformanceIsolation) {
    self.table = table
    self.actor = actor
    self.conformance = conformance
  }

  /// Lets a proxy call the objects of a class, and calls `declare` once for each class and proxy: with
  /// the first message to the class, as most classes get none. A protocol with an actor declares at
  /// once, on its actor.
  ///
  /// The isolation is that of the protocol: a global actor, or nil. If the conformance of the class
  /// is isolated to an actor, its methods run on that actor.
  ///
  /// - Parameters:
  /// - target: a target of the class, with the type of the protocol.
  /// - bases: the proxies of the inherited protocols, for which the class is prepared already.
  public static func prepare<Target>(
    for proxy: AnyClass, _ target: Target, bases: [AnyClass] = [],
    isolation: isolated (any Actor)? = #isolation,
    _ declare: @escaping (_ProxyMethods<Object>) -> Void
  ) {
    if WitnessRecords.knows(Object.self, proxy) { return }
    // Two threads may both reach this point; the second one finds the methods of the first.
    let conformance =
      (proxy as? any GeneratedProxy.Type).map { Self.conformance(to: $0, of: target) }
      ?? ConformanceIsolation.none
    let add = { (table: MethodTable) in
      let methods = _ProxyMethods(table: table, actor: isolation, conformance: conformance)
      declare(methods)
      methods.adopt(proxy)
      WitnessRecords.note(methods.declare(), of: proxy, for: Object.self)
    }
    // Before other threads can know that the class is prepared.
    if isolation == nil {
      MethodTable.add(to: Object.self, add)
    } else {
      add(MethodTable.of(Object.self))
    }
    var isCallable = false
    if case .none = conformance { isCallable = true }
    WitnessRecords.add(
      Object.self, proxy, isCallable ? WitnessRecords.Part(target) : nil,
      isIsolated: isolation != nil, bases: bases)
  }

  /// Registers the methods that the class does not have yet.
  ///
  /// - Returns: the selectors of all methods.
  @discardableResult
  func declare() -> [Selector] {
    let made = methods.read { $0 }
    table.declare(made.map { ($0.selector, $0.method) })
    return made.map(\.selector)
  }

  private static func conformance<Proxy: GeneratedProxy, Target>(
    to proxy: Proxy.Type, of target: Target
  ) -> ConformanceIsolation {
    ConformanceIsolation(of: Object.self, to: Proxy.__Target.self, as: target)
  }

  /// Registers a method for a requirement, unless the class has a method for its message.
  ///
  /// - Parameter isOptional: whether a default implementation records that it ran.
  public func answer<Result, each Argument>(
    _ requirement: Requirement<Result, repeat each Argument>, isOptional: Bool = false,
    _ body: ProxyBody<Object>
  ) {
    add(requirement, isOptional: isOptional, isSendable: false, body)
  }

  /// Registers a method for a requirement whose values may be sent to another actor.
  public func answer<Result: Sendable, each Argument: Sendable>(
    _ requirement: Requirement<Result, repeat each Argument>, isOptional: Bool = false,
    _ body: ProxyBody<Object>
  ) {
    add(requirement, isOptional: isOptional, isSendable: true, body)
  }

  private func add<Result, each Argument>(
    _ requirement: Requirement<Result, repeat each Argument>, isOptional: Bool, isSendable: Bool,
    _ body: ProxyBody<Object>
  ) {
    // The macro writes the types of both. A body with other types does not belong to this
    // requirement.
    guard let plan = requirement.prepared?.plan, let method = body.implementation,
      method.plan === plan
    else {
      return
    }
    let selector = requirement.selector
    let hasResult = Result.self != Void.self
    let own = guarded(method, selector, hasResult: hasResult, isSendable)
      .markedAsOfProxy(isOptional: isOptional)
    methods.withLockInPlace { $0.append((selector, own, isOptional)) }
  }

  /// The method, restricted to its actor.
  private func guarded(
    _ method: Implementation, _ selector: Selector, hasResult: Bool, _ isSendable: Bool
  ) -> Implementation {
    // An awaited call would have hopped to the actor, if it could.
    let remedy =
      method.isAwaited
      ? .sendingThere : IsolationRemedy(hasResult: hasResult, goesThere: isSendable)
    let context = ForwardingError.Context(selector: selector, target: table.type)
    switch conformance {
    case .none:
      // An async method switches to the actor of its protocol.
      guard let actor, !method.isAwaited else { return method }
      return Implementation(method, hoppingTo: nil) { _, _, _ in
        try Isolation.check(that: actor, context, remedy)
      }
    case .actor(let actor):
      let there: @Sendable (AnyObject?) -> (any Actor)? = { _ in actor }
      return Implementation(method, hoppingTo: isSendable ? there : nil) { _, _, _ in
        try Isolation.check(that: actor, context, remedy)
      }
    case .unknown:
      return Implementation(method, hoppingTo: nil) { _, _, _ in
        throw ForwardingError.wrongIsolation(context, .nonisolated)
      }
    }
  }

  /// Declares the optional requirements as messages of the class, so that one without a method is
  /// not reported as a mistyped name.
  private func adopt(_ proxy: AnyClass) {
    let optional = methods.read { $0 }.filter(\.isOptional).map {
      ProtocolDescription.Requirement(
        selector: $0.selector, signature: $0.method.plan.signature, isRequired: false)
    }
    if optional.isEmpty { return }
    table.adopt(ProtocolDescription(_typeName(proxy), optional))
  }
}
