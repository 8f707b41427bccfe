/// A target built on the spot: an object whose methods are closures of its own.
///
/// ```swift
/// let printer = ClosureTarget()
/// try printer.register("didSave:") { (id: Int32) in print("saved \(id)") }
/// try Message<NoResult, Int32>("didSave:")(42, on: printer)
/// ```
///
/// A selector that is taken is refused, unless `replacing` says otherwise.
public final class ClosureTarget: MethodProviding, MessageForwarding, Sendable {
  private let methods = Guarded<[Selector: Implementation]>([:])

  /// Makes a target that answers nothing yet.
  public init() {}

  /// Answers a selector with a closure that takes the arguments. Its types are compared with
  /// `encoding`, or spell one.
  @inlinable
  public func register<Value: CallValue, each Argument: CallValue>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    try register(
      selector, replacing: replacing, Implementation.withoutReceiver(encoding: encoding, body))
  }

  /// Answers a selector with a closure that has no result.
  @inlinable
  public func register<each Argument: CallValue>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Void
  ) throws(InvocationError) {
    try register(
      selector, replacing: replacing, Implementation.withoutReceiver(encoding: encoding, body))
  }

  /// Answers a selector with an implementation.
  public func register(
    _ selector: Selector, replacing: Bool = false, _ implementation: Implementation
  ) throws(InvocationError) {
    do throws(TypeEncodingError) {
      try implementation.signature.checkArity(ofSelector: selector.name)
    } catch {
      throw .encoding(error)
    }
    let (isTaken, old) = methods.withLockInPlace { methods -> (Bool, Implementation?) in
      let old = methods[selector]
      if old != nil, !replacing { return (true, nil) }
      methods[selector] = implementation
      return (false, old)
    }
    if isTaken { throw .duplicateName("-[ClosureTarget \(selector)]") }
    withExtendedLifetime(old) {}
  }

  /// Removes the method for a selector; false if there was none.
  @discardableResult
  public func unregister(_ selector: Selector) -> Bool {
    methods.withLockInPlace { $0.removeValue(forKey: selector) } != nil
  }

  /// The selectors that it answers, in alphabetical order.
  public var selectors: [Selector] {
    methods.read { Array($0.keys) }.sorted { $0.name < $1.name }
  }

  public func ownMethod(for selector: Selector) -> Implementation? {
    methods.read { $0[selector] }
  }

  public func methodSignature(for selector: Selector) -> MethodSignature? {
    ownMethod(for: selector)?.signature
  }
}

extension ClosureTarget {
  /// Answers a selector with a closure over any types.
  public func register<Result, each Argument>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) throws(InvocationError) {
    try register(
      selector, replacing: replacing, Implementation.ofAnyTypes(encoding: encoding, body))
  }
}
