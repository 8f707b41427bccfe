// SPDX-License-Identifier: Apache-2.0
// Closures that suspend, with one overload for each number of arguments: Swift 6.3 cannot compile a
// `nonisolated(nonsending)` closure whose parameters are a parameter pack.

extension ClosureTarget {
  /// Registers an `async` closure without arguments, which runs in the sender's isolation domain.
  ///
  /// - Throws: an ``InvocationError`` if the selector is registered and `replacing` is false, or
  ///   the encoding does not fit the selector or the types.
  public func register<Result>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Result
  ) throws(InvocationError) {
    try register(
      selector, replacing: replacing,
      Implementation(
        encoding: encoding,
        asyncMethod: { (_: ClosureTarget) in try await body() }))
  }

  /// Registers an `async` closure with one argument, which runs in the sender's isolation domain.
  ///
  /// - Throws: as for a closure without arguments.
  public func register<Result, A>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (A) async throws -> Result
  ) throws(InvocationError) {
    try register(
      selector, replacing: replacing,
      Implementation(
        encoding: encoding,
        asyncMethod: { (_: ClosureTarget, a: A) in try await body(a) }))
  }

  /// Registers an `async` closure with two arguments, which runs in the sender's isolation domain.
  ///
  /// - Throws: as for a closure without arguments.
  public func register<Result, A, B>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (A, B) async throws -> Result
  ) throws(InvocationError) {
    try register(
      selector, replacing: replacing,
      Implementation(
        encoding: encoding,
        asyncMethod: { (_: ClosureTarget, a: A, b: B) in try await body(a, b) }))
  }

  /// Registers an `async` closure with three arguments, which runs in the sender's isolation
  /// domain. For more arguments, register an ``Implementation`` whose receiver is a
  /// ``ClosureTarget``.
  ///
  /// - Throws: as for a closure without arguments.
  public func register<Result, A, B, C>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (A, B, C) async throws -> Result
  ) throws(InvocationError) {
    try register(
      selector, replacing: replacing,
      Implementation(
        encoding: encoding,
        asyncMethod: { (_: ClosureTarget, a: A, b: B, c: C) in try await body(a, b, c) }))
  }
}
