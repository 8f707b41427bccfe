// SPDX-License-Identifier: Apache-2.0
/// An object whose methods are closures, registered for this object alone.
///
/// ```swift
/// let printer = ClosureTarget()
/// try printer.register("didSave:") { (id: Int32) in print("saved \(id)") }
/// try Message<NoResult, Int32>("didSave:")(42, on: printer)
/// ```
///
/// Registering a selector twice is an error, unless `replacing` is true.
public final class ClosureTarget: MethodProviding, Sendable {
  private let methods = Guarded<[Selector: Implementation]>([:])

  /// Creates a target without methods.
  public init() {}

  /// Registers a closure over any Swift types for a selector. The types of the closure are compared
  /// with `encoding`; if that is nil, they determine it, and messages that drop the result are
  /// answered, too.
  ///
  /// - Throws: an ``InvocationError`` if the selector is registered and `replacing` is false, or
  ///   the encoding does not fit the selector or the types.
  public func register<Result, each Argument>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) throws(InvocationError) {
    try register(
      selector, replacing: replacing, Implementation.ofAnyTypes(encoding: encoding, body))
  }

  /// Registers an implementation for a selector. One of an `async` closure, whose receiver is the
  /// ``ClosureTarget``, suspends:
  ///
  /// ```swift
  /// let loading = try Implementation { (_: ClosureTarget, name: String) async -> Int in
  ///   await Task.yield()
  ///   return name.count
  /// }
  /// try ClosureTarget().register("load:", loading)
  /// ```
  ///
  /// - Throws: ``InvocationError/duplicateName(_:)`` if the selector is registered and `replacing`
  ///   is false, and ``InvocationError/encoding(_:)`` if the number of arguments does not fit the
  ///   selector.
  public func register(
    _ selector: Selector, replacing: Bool = false, _ implementation: Implementation
  ) throws(InvocationError) {
    try implementation.signature.checkArity(of: selector)
    let (isTaken, old) = methods.withLockInPlace { methods -> (Bool, Implementation?) in
      let old = methods[selector]
      if old != nil, !replacing { return (true, nil) }
      methods[selector] = implementation
      return (false, old)
    }
    if isTaken { throw .duplicateName("-[ClosureTarget \(selector)]") }
    withExtendedLifetime(old) {}
  }

  /// Removes the method for a selector.
  ///
  /// - Returns: false if there was no method.
  @discardableResult
  public func unregister(_ selector: Selector) -> Bool {
    methods.withLockInPlace { $0.removeValue(forKey: selector) } != nil
  }

  /// The selectors of the registered methods, in alphabetical order.
  public var selectors: [Selector] {
    methods.read { Array($0.keys) }.sorted { $0.name < $1.name }
  }

  public func ownMethod(for selector: Selector) -> Implementation? {
    methods.read { $0[selector] }
  }
}
