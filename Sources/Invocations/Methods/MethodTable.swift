// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import Synchronization
public import TypeEncodings

/// The methods of one class, which its instances run for the messages that they receive.
///
/// Any class can have a table, without code of its own. Subclasses inherit and may override:
///
/// ```swift
/// try MethodTable.of(Counter.self).register("add:") { (counter: Counter, step: Int32) in
///   counter.value += step
/// }
/// MethodTable.of(Counter.self).signature(for: "add:")  // v@:i
/// ```
///
/// A table can be used from many threads. A change takes effect for every send that begins after it
/// returns. A replaced or removed method is released after the running sends have ended.
@safe
public final class MethodTable: Sendable {
  /// The mutable state of a table.
  struct State {
    var methods: [Selector: Implementation] = [:]
    var protocols: [ProtocolDescription] = []
    /// Selectors that the resolver was called for, whatever it returned.
    var resolved: Set<Selector> = []
    /// The methods that proxies made for optional requirements that the class leaves out. They were removed, but
    /// another thread may still be about to add them.
    var leftOut: [Selector: Implementation] = [:]

    /// Adds a method that a proxy made, beside that of another proxy with other types: both go on to
    /// call their targets, each with its own. Returns false if the class has a method of no proxy whose
    /// types differ.
    mutating func add(_ selector: Selector, ofProxy method: Implementation) -> Bool {
      guard let known = methods[selector] ?? leftOut[selector] else {
        methods[selector] = method
        return true
      }
      if known.answering(method.plan) != nil { return true }
      if known.isGenerated { methods[selector] = Implementation(known, besides: method) }
      return known.isGenerated
    }
  }

  /// The tables, and what proxies have to add to the tables that do not exist yet: most classes get no
  /// message ever.
  private struct Tables {
    var made: [ObjectIdentifier: MethodTable] = [:]
    var additions: [ObjectIdentifier: [@Sendable (MethodTable) -> Void]] = [:]
  }

  private static let tables = Guarded(Tables())

  let state = Guarded(State())
  let isDeclared = Atomic(false)
  let hasProtocols = Atomic(false)

  /// The class whose instances have the methods.
  public let type: AnyClass
  private let tableOfSuperclass: MethodTable?

  /// How objects of the class forward, and find their own methods; nil if they do not.
  let forwarding: ForwardingSteps?
  let providing: (any MethodProviding.Type)?
  /// How the class declares methods; nil if it does not.
  let declaring: (any MethodDeclaring.Type)?
  /// What proxies had to add before the table was made.
  let additions: [@Sendable (MethodTable) -> Void]

  private init(
    _ type: AnyClass, _ superclass: MethodTable?, _ additions: [@Sendable (MethodTable) -> Void]
  ) {
    self.type = type
    tableOfSuperclass = superclass
    self.additions = additions
    let custom = type as? any CustomAnswering.Type
    forwarding = custom.flatMap { ForwardingSteps($0) }
    providing = custom as? any MethodProviding.Type
    declaring = custom as? any MethodDeclaring.Type
  }

  /// The table of a class, without its superclasses. It begins empty.
  public static func of(_ type: AnyClass) -> MethodTable {
    (existing(type) ?? make(type)).declared
  }

  private static func make(_ type: AnyClass) -> MethodTable {
    let superclass = _getSuperclass(type).map { existing($0) ?? make($0) }
    return tables.withLockInPlace { tables in
      let key = ObjectIdentifier(type)
      if let known = tables.made[key] { return known }
      let made = MethodTable(type, superclass, tables.additions.removeValue(forKey: key) ?? [])
      tables.made[key] = made
      return made
    }
  }

  /// The table of a class, if it or a subclass has had a message; nil for other classes.
  static func existing(_ type: AnyClass) -> MethodTable? {
    tables.read { $0.made[ObjectIdentifier(type)] }
  }

  /// Adds methods to a class: at once if it has a table, otherwise when it gets one, for its first
  /// message.
  ///
  /// The closure may run on any thread, once, and makes methods of what it captures.
  package static func add(to type: AnyClass, _ methods: @escaping (MethodTable) -> Void) {
    // SAFETY: it runs once, and what it captures are constants.
    nonisolated(unsafe) let held = methods
    let methods: @Sendable (MethodTable) -> Void = { unsafe held($0) }
    let key = ObjectIdentifier(type)
    let table = tables.withLockInPlace { tables in
      if let known = tables.made[key] { return known as MethodTable? }
      tables.additions[key, default: []].append(methods)
      return nil
    }
    if let table { methods(table.declared) }
  }

  /// The table, after its class has declared its methods.
  var declared: MethodTable {
    if !isDeclared.load(ordering: .acquiring) { declare() }
    return self
  }

  /// The table of the superclass; nil for a root class.
  public var superclass: MethodTable? { tableOfSuperclass?.declared }

  // MARK: Changing

  /// Adds a method; false, and no change, if the class itself has one. A superclass's is overridden.
  func add(_ selector: Selector, _ implementation: Implementation) -> Bool {
    change([selector]) { state in
      guard state.methods[selector] == nil else { return false }
      state.methods[selector] = implementation
      return true
    }
  }

  /// Sets the method for a selector, and returns the method that the class itself had.
  @discardableResult
  public func replace(_ selector: Selector, _ implementation: Implementation) -> Implementation? {
    change([selector]) { $0.methods.updateValue(implementation, forKey: selector) }
  }

  /// Removes a method of the class itself, and returns it. A superclass's method takes effect
  /// again.
  @discardableResult
  public func remove(_ selector: Selector) -> Implementation? {
    change([selector]) { $0.methods.removeValue(forKey: selector) }
  }

  /// Exchanges the implementations of two methods, each in the class that has it: this one or a
  /// superclass. Returns false, and changes nothing, if one is missing.
  @discardableResult
  public func exchange(_ one: Selector, _ other: Selector) -> Bool {
    guard let first = owner(of: one), let second = owner(of: other) else { return false }
    if first === second {
      return first.change([one, other]) { state in
        guard let a = state.methods[one], let b = state.methods[other] else { return false }
        state.methods[one] = b
        state.methods[other] = a
        return true
      }
    }
    // In two classes, a send between the two steps may find one implementation under both names.
    guard let a = first.own(one), let b = second.own(other) else { return false }
    first.replace(one, b)
    second.replace(other, a)
    return true
  }

  /// Changes the methods for some selectors. Cached lookups of others stay valid. Proxies send messages
  /// for these from then on, unless a proxy adds its own methods: of two threads that prepare a class,
  /// the one that adds the methods may come here after the other one has made the witness tables.
  private func change<Result>(
    _ selectors: [Selector], byProxy: Bool = false, _ body: (inout State) -> Result
  ) -> Result {
    if passesOn {
      var unchanged = state.read { $0 }
      return body(&unchanged)
    }
    // Removed methods are returned, because they may have the last reference to a closure.
    var changed: [Selector] = []
    defer {
      for selector in selectors { fwd_methods_forget(selector.word) }
      if !byProxy { WitnessRecords.withdraw(changed, of: type) }
    }
    return state.withLockInPlace { state in
      let old = selectors.map { state.methods[$0] }
      let result = body(&state)
      for (selector, old) in zip(selectors, old) where state.methods[selector] !== old {
        changed.append(selector)
      }
      return result
    }
  }

  /// Whether the objects of the class pass every message on, as a multicast proxy does. Such a class
  /// takes no methods: proxies reach the targets without asking it.
  var passesOn: Bool { forwarding?.callType != nil }

  // MARK: Looking up

  /// The method that the class itself has for a selector.
  public func own(_ selector: Selector) -> Implementation? {
    state.read { $0.methods[selector] }
  }

  /// The selectors of the class's own methods, in alphabetical order.
  public var selectors: [Selector] {
    state.read { Array($0.methods.keys) }.sorted { $0.name < $1.name }
  }

  /// The method that instances run for a selector: the class's own, or that of the nearest
  /// superclass. Does not call a resolver.
  public func method(for selector: Selector) -> Implementation? {
    own(selector) ?? superclass?.method(for: selector)
  }

  /// The table of the nearest class, this one or a superclass, that has a method for a selector.
  private func owner(of selector: Selector) -> MethodTable? {
    own(selector) != nil ? self : superclass?.owner(of: selector)
  }

  /// The signature of a method, or of a message in an adopted protocol without a method.
  public func signature(for selector: Selector) -> MethodSignature? {
    method(for: selector)?.signature ?? requiredSignature(for: selector)
  }

  /// Whether instances have a method for a selector. Calls the class's resolver, and does not take
  /// the later steps of forwarding.
  public func instancesRespond(to selector: Selector) -> Bool {
    resolved(selector) != nil
  }

  /// The names of all methods of the class and its superclasses, for suggestions.
  var allSelectorNames: [String] {
    selectors.map(\.name) + (superclass?.allSelectorNames ?? [])
  }

  // MARK: Methods of proxies

  /// Adds methods that a proxy made. If the class has a method with other types of its own, an error is
  /// reported.
  package func declare(_ made: [(selector: Selector, method: Implementation)]) {
    let refused = change(made.map(\.selector), byProxy: true) { state in
      state.methods.reserveCapacity(state.methods.count + made.count)
      return made.filter { !state.add($0.selector, ofProxy: $0.method) }
    }
    for (selector, _) in refused {
      let cause = InvocationError.duplicateName("-[\(type) \(selector)]")
      Self.refuse(DeclarationError(type: SwiftType(type), selector: selector, cause: cause))
    }
  }

  /// Removes a method that a proxy made for an optional requirement that the class leaves out.
  func leaveOut(_ selector: Selector) {
    // Returned, to be released outside of the lock.
    _ = change([selector], byProxy: true) { state -> Implementation? in
      // The requirement of the other protocol stays. The default implementation runs each time.
      guard let old = state.methods[selector], old.otherTypes == nil else { return nil }
      state.methods[selector] = nil
      return state.leftOut.updateValue(old, forKey: selector)
    }
  }

  // MARK: Code of the class that runs once

  /// The calls into classes that run once. They share one wait list, so a cycle of threads that
  /// wait for each other is found wherever it leads.
  private enum Question: Hashable {
    case declaring(ObjectIdentifier)
    case resolving(ObjectIdentifier, Selector)
  }

  private static let questions = OnceForEach<Question>()

  /// Lets the class declare its methods, once. Other threads wait for the end, because a
  /// half-declared class must not answer messages. The class itself gets the table while it
  /// declares, and so does a class that this one waits for.
  func declare() {
    let isOver = { self.isDeclared.load(ordering: .acquiring) }
    Self.questions.run(.declaring(ObjectIdentifier(type)), unless: isOver) {
      declaring?.declareMethods(MethodDeclarations(of: type))
      for add in additions { add(self) }
      isDeclared.store(true, ordering: .releasing)
    }
  }

  /// The method for a selector, after the resolver of the class has run once.
  func resolved(_ selector: Selector) -> Implementation? {
    if let method = method(for: selector) { return method }
    guard let resolving = forwarding?.type else { return nil }
    let isOver = { self.state.read { $0.resolved.contains(selector) } }
    if isOver() { return nil }
    // Other threads wait for the resolver. The resolver itself may ask, and gets nil.
    Self.questions.run(.resolving(ObjectIdentifier(type), selector), unless: isOver) {
      resolving.resolveMethod(selector, in: self)
      state.withLockInPlace { _ = $0.resolved.insert(selector) }
    }
    return method(for: selector)
  }

  // MARK: Protocols

  /// Declares that instances conform to a protocol. From then on its optional messages have a
  /// signature, whether they are implemented or not.
  public func adopt(_ description: ProtocolDescription) {
    state.withLock { state in
      if !state.protocols.contains(description) { state.protocols.append(description) }
      hasProtocols.store(true, ordering: .relaxed)
    }
  }

  /// The signature of a message in an adopted protocol.
  func requiredSignature(for selector: Selector) -> MethodSignature? {
    for description in protocols {
      if let known = description.requirement(for: selector) { return known.signature }
    }
    return superclass?.requiredSignature(for: selector)
  }

  /// The protocols that the class itself adopts.
  private var protocols: [ProtocolDescription] {
    hasProtocols.load(ordering: .relaxed) ? state.read { $0.protocols } : []
  }

  /// Whether the class or a superclass adopts a protocol.
  public func conforms(to description: ProtocolDescription) -> Bool {
    protocols.contains(description) || superclass?.conforms(to: description) ?? false
  }
}
