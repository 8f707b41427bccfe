import CForwardingShims
import Synchronization
public import TypeEncodings

/// The methods of one class: what its instances answer when a message is sent to them.
///
/// Any class can have one; it need not know. Subclasses inherit, and may override:
///
/// ```swift
/// try MethodTable.of(Counter.self).register("add:") { (counter: Counter, step: Int32) in
///   counter.value += step
/// }
/// MethodTable.of(Counter.self).signature(for: "add:")  // v@:i
/// ```
///
/// Safe to use from many threads; a change is seen by every send that begins after it returns. A method
/// that was replaced or removed is let go when the sends that were under way have ended.
@safe
public final class MethodTable: Sendable {
  /// What may change about a class.
  struct State {
    var methods: [Selector: Implementation] = [:]
    var protocols: [ProtocolDescription] = []
    /// Selectors that the class was asked to resolve, whatever it answered.
    var resolved: Set<Selector> = []
  }

  private static let tables = Guarded<[ObjectIdentifier: MethodTable]>([:])

  let state = Guarded(State())
  let isDeclared = Atomic(false)
  private let hasProtocols = Atomic(false)
  /// The table of the superclass, once it was asked for: as an address, which is read without being counted.
  private let superclassWord = Atomic<UInt>(0)

  /// The class whose instances answer.
  public let type: AnyClass

  /// How objects of the class forward, and find methods of their own; nil if they do not.
  let forwarding: ForwardingSteps?
  let providing: (any MethodProviding.Type)?
  /// How the class declares methods; nil if it does not.
  let declaring: (any MethodDeclaring.Type)?

  /// Whether its objects may have methods of their own.
  package var providesMethods: Bool { providing != nil }

  private init(_ type: AnyClass) {
    self.type = type
    let custom = type as? any CustomAnswering.Type
    forwarding = custom.flatMap { ForwardingSteps($0) }
    providing = custom as? any MethodProviding.Type
    declaring = custom as? any MethodDeclaring.Type
  }

  /// The table of a class itself, empty at first.
  public static func of(_ type: AnyClass) -> MethodTable {
    let table = tables.withLockInPlace { tables in
      let key = ObjectIdentifier(type)
      if let known = tables[key] { return known }
      let made = MethodTable(type)
      tables[key] = made
      return made
    }
    return table.declared
  }

  /// The table, once its class has declared its methods.
  private var declared: MethodTable {
    if !isDeclared.load(ordering: .acquiring) { declare() }
    return self
  }

  /// The table of the superclass, or nil at the root.
  public var superclass: MethodTable? {
    if let known = unsafe knownSuperclass { return unsafe known.takeUnretainedValue().declared }
    return _getSuperclass(type).map { type in
      let table = MethodTable.of(type)
      // SAFETY: tables live as long as the process.
      unsafe superclassWord.store(
        UInt(bitPattern: Unmanaged.passUnretained(table).toOpaque()), ordering: .releasing)
      return table
    }
  }

  @unsafe
  private var knownSuperclass: Unmanaged<MethodTable>? {
    unsafe UnsafeRawPointer(bitPattern: superclassWord.load(ordering: .acquiring)).map {
      unsafe .fromOpaque($0)
    }
  }

  // MARK: Changing

  /// Adds a method; false, and no change, if the class itself has one for the selector. One of a
  /// superclass is overridden.
  func add(_ selector: Selector, _ implementation: Implementation) -> Bool {
    change(selector) { state in
      guard state.methods[selector] == nil else { return false }
      state.methods[selector] = implementation
      return true
    }
  }

  /// Adds methods whose selectors the class has no method for, and returns the others.
  func add(
    _ new: [(selector: Selector, method: Implementation)]
  ) -> [(selector: Selector, method: Implementation)] {
    change(new.map(\.selector)) { state in
      state.methods.reserveCapacity(state.methods.count + new.count)
      return new.filter { selector, method in
        guard state.methods[selector] == nil else { return true }
        state.methods[selector] = method
        return false
      }
    }
  }

  /// Sets the method for a selector and returns the one that the class itself had.
  @discardableResult
  public func replace(_ selector: Selector, _ implementation: Implementation) -> Implementation? {
    change(selector) { state in
      let old = state.methods[selector]
      state.methods[selector] = implementation
      return old
    }
  }

  /// Sets the implementation of a method that the class itself has and returns the old one; nil,
  /// and no change, if it has none.
  @discardableResult
  public func setImplementation(
    _ selector: Selector, _ implementation: Implementation
  ) -> Implementation? {
    change(selector) { state in
      guard let old = state.methods[selector] else { return nil }
      state.methods[selector] = implementation
      return old
    }
  }

  /// Removes a method of the class itself and returns it; one of a superclass shows again.
  @discardableResult
  public func remove(_ selector: Selector) -> Implementation? {
    change(selector) { $0.methods.removeValue(forKey: selector) }
  }

  /// Exchanges the implementations of two methods, where each is found: in this class or above.
  /// False, and no change, if one is missing.
  @discardableResult
  public func exchange(_ one: Selector, _ other: Selector) -> Bool {
    guard let first = owner(of: one), let second = owner(of: other) else { return false }
    if first === second {
      return first.change(one, other) { state in
        guard let a = state.methods[one], let b = state.methods[other] else { return false }
        state.methods[one] = b
        state.methods[other] = a
        return true
      }
    }
    // Two classes: a send between the two steps may find one implementation under both names.
    guard let a = first.own(one), let b = second.own(other) else { return false }
    first.replace(one, b)
    second.replace(other, a)
    return true
  }

  /// Says that instances conform to a protocol. Its optional messages have a signature from then
  /// on, whether they are implemented or not.
  public func adopt(_ description: ProtocolDescription) {
    state.withLock { state in
      if !state.protocols.contains(description) { state.protocols.append(description) }
      hasProtocols.store(true, ordering: .releasing)
    }
  }

  /// Changes the methods for some selectors; sends of other selectors do not notice.
  private func change<Result>(
    _ selectors: Selector..., body: (inout State) -> Result
  ) -> Result {
    change(selectors, body: body)
  }

  private func change<Result>(
    _ selectors: [Selector], body: (inout State) -> Result
  ) -> Result {
    // What this removes is returned, as it may hold the last reference to a closure.
    var changed: [Selector] = []
    defer {
      for selector in selectors { fwd_methods_forget(selector.word) }
      WitnessRecords.withdraw(changed, of: type)
      // A message to a proxy may be answered by the class itself.
      if forwarding?.callType != nil { fwd_direct_stop() }
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

  /// Removes the method that a face made for an optional requirement, which the class leaves out.
  func leaveOut(_ selector: Selector) {
    let old = state.withLockInPlace { $0.methods.removeValue(forKey: selector) }
    fwd_methods_forget(selector.word)
    withExtendedLifetime(old) {}
  }

  // MARK: Looking up

  /// The method that the class itself has for a selector.
  public func own(_ selector: Selector) -> Implementation? {
    state.read { $0.methods[selector] }
  }

  /// The selectors of the methods that the class itself has, in alphabetical order.
  public var selectors: [Selector] {
    state.read { Array($0.methods.keys) }.sorted { $0.name < $1.name }
  }

  /// The method that instances answer a selector with: the class's own, or that of the nearest
  /// superclass. No resolver is asked.
  public func method(for selector: Selector) -> Implementation? {
    own(selector) ?? superclass?.method(for: selector)
  }

  /// The class, this one or above, that has a method for a selector itself.
  public func owner(of selector: Selector) -> MethodTable? {
    own(selector) != nil ? self : superclass?.owner(of: selector)
  }

  /// The signature of a method, or of a message in an adopted protocol that is not implemented.
  public func signature(for selector: Selector) -> MethodSignature? {
    method(for: selector)?.signature ?? requiredSignature(for: selector)
  }

  /// The signature of a message in an adopted protocol.
  func requiredSignature(for selector: Selector) -> MethodSignature? {
    if hasProtocols.load(ordering: .acquiring) {
      for description in adoptedProtocols {
        if let known = description.requirement(for: selector) { return known.signature }
      }
    }
    if let known = unsafe knownSuperclass {
      return unsafe known._withUnsafeGuaranteedRef { $0.declared.requiredSignature(for: selector) }
    }
    return superclass?.requiredSignature(for: selector)
  }

  /// The protocols that the class itself adopts.
  public var adoptedProtocols: [ProtocolDescription] {
    hasProtocols.load(ordering: .acquiring) ? state.read { $0.protocols } : []
  }

  /// Whether the class or one above adopts a protocol, or another that includes it.
  public func conforms(to description: ProtocolDescription) -> Bool {
    adoptedProtocols.contains { $0.includes(description) }
      || superclass?.conforms(to: description) ?? false
  }

  /// Whether instances answer a selector themselves. Asks the class's resolver, not the later
  /// steps of forwarding.
  public func instancesRespond(to selector: Selector) -> Bool {
    resolved(selector) != nil
  }

  /// The names of all methods of the class and above, to suggest one for a mistyped selector.
  var allSelectorNames: [String] {
    selectors.map(\.name) + (superclass?.allSelectorNames ?? [])
  }
}
