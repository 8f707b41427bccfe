/// Where methods are registered: the table of a class, or a class that declares its methods.
///
/// Every registry has one verb, and one rule: a selector that has a method already is refused, unless
/// `replacing` says otherwise.
///
/// ```swift
/// try MethodTable.of(Account.self).register("deposit:") { (account: Account, amount: Int32) in
///   account.balance += amount
/// }
/// try MethodTable.of(Account.self).register("close", Account.close)
/// MethodTable.of(Account.self).selectors  // [close, deposit:]
/// ```
public protocol MethodRegistry {
  /// What registering throws.
  associatedtype Failure: Error

  /// Registers the method that `make` makes. Everything else here ends in this.
  ///
  /// - Parameters:
  ///   - receiver: the class that the method takes objects of; nil if it takes any.
  ///   - replacing: whether a method that is there is replaced, or refused.
  func register(
    _ selector: Selector, for receiver: AnyClass?, replacing: Bool,
    making make: () throws(InvocationError) -> Implementation
  ) throws(Failure)
}

extension MethodRegistry {
  /// Registers an implementation.
  @inlinable
  public func register(
    _ selector: Selector, replacing: Bool = false, _ implementation: Implementation
  ) throws(Failure) {
    try register(selector, for: implementation.receiver, replacing: replacing) {
      () throws(InvocationError) in implementation
    }
  }
}
