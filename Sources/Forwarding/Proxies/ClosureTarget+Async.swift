// Closures that suspend. One for each number of arguments: Swift 6.3 cannot compile a closure of a parameter
// pack alone that runs where its caller does.

extension ClosureTarget {
  /// Answers a selector with an `async` closure of no arguments, which runs where its sender does.
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

  /// Answers a selector with an `async` closure of one argument, which runs where its sender does.
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

  /// Answers a selector with an `async` closure of two arguments, which runs where its sender does.
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

  /// Answers a selector with an `async` closure of three arguments, which runs where its sender does. For more, register an
  /// ``Implementation`` whose receiver is a ``ClosureTarget``.
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
