/// A target built on the spot: an object whose methods are closures of its own.
///
/// ```swift
/// let printer = ClosureTarget()
/// try printer.on("didSave:") { (_: ClosureTarget, id: Int32) in print("saved \(id)") }
/// ```
public final class ClosureTarget: MethodHolding, MessageForwarding, Sendable {
  private let methods = Guarded<[Selector: Implementation]>([:])

  /// Makes a target that answers nothing yet.
  public init() {}

  /// Answers a selector with a closure, in place of any it had.
  @inlinable
  public func on<Value: CallValue, each Argument: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (ClosureTarget, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    try set(selector, Implementation(encoding: encoding, method: body))
  }

  /// Answers a selector with a closure that has no result.
  @inlinable
  public func on<each Argument: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (ClosureTarget, repeat each Argument) throws -> Void
  ) throws(InvocationError) {
    try set(selector, Implementation(encoding: encoding, method: body))
  }

  /// Answers a selector no more; false if it did not.
  @discardableResult
  public func removeMethod(_ selector: String) -> Bool {
    guard let name = Selector(existing: selector) else { return false }
    return methods.withLockInPlace { $0.removeValue(forKey: name) } != nil
  }

  public func ownMethod(for selector: Selector) -> Implementation? {
    methods.read { $0[selector] }
  }

  public func methodSignature(for selector: Selector) -> MethodSignature? {
    ownMethod(for: selector)?.signature
  }

  @usableFromInline
  func set(
    _ selector: String, _ implementation: Implementation
  ) throws(InvocationError) {
    do throws(TypeEncodingError) {
      try implementation.signature.checkArity(ofSelector: selector)
    } catch {
      throw .encoding(error)
    }
    let name = try Selector(selector)
    methods.withLock { $0[name] = implementation }
  }
}

extension ClosureTarget {
  @available(
    *, unavailable,
    message:
      "an argument or the result is no CallValue: use numbers, Bool, CallObject, CallStructure, CarriedValue, or text, pointers and objects, which may be optional"
  )
  public func on<Result, each Argument>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (ClosureTarget, repeat each Argument) throws -> Result
  ) throws(InvocationError) {}

}
