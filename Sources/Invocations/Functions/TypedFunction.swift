// SPDX-License-Identifier: Apache-2.0
public import TypeEncodings

/// A function of a table, looked up once, together with the Swift types of its calls.
///
/// ```swift
/// try unsafe functions.register("pow", encoding: "ddd", unsafeSymbolIn: Library("libm.so.6"))
/// let pow = try functions.function("pow", as: ((Double, Double) -> Double).self)
/// try pow(2, 10)  // 1024.0
/// try functions.function("pow", as: ((Int) -> Int).self)  // throws: 'pow': 2 arguments are expected, 1 was given
/// ```
///
/// The types are compared at the lookup. A call of a C function with up to four words, texts or
/// `Double`s takes little longer than one through a function pointer. A value always calls the
/// function that was found: registering another function under the name, or unregistering it,
/// changes nothing here, and the function's library stays open.
///
/// Concurrent calls are as safe as the function itself.
public struct TypedFunction<Result, each Argument>: Sendable {
  /// The name under which the function was found.
  public let name: String
  @usableFromInline let prepared: PreparedFunction

  init(_ name: String, _ implementation: Implementation) throws(InvocationError) {
    self.name = name
    prepared = try PreparedFunction(name, implementation, as: Self.self)
  }

  /// The implementation that is called.
  public var implementation: Implementation { prepared.implementation }

  /// The signature that the function is registered with.
  public var signature: MethodSignature { implementation.signature }

  /// Calls the function.
  ///
  /// - Throws: The error of the function, or ``InvocationError`` if the call is refused or its
  ///   result cannot be read.
  @inlinable
  @discardableResult
  public func callAsFunction(_ arguments: repeat each Argument) throws -> Result {
    try unsafe withUnsafePointer(to: (repeat each arguments)) {
      try unsafe prepared.call($0, as: Self.self)
    }
  }
}

extension FunctionTable {
  /// Looks up a function, to be called with certain types: `functions.function("abs", as: ((Int32)
  /// -> Int32).self)`.
  ///
  /// - Throws: ``InvocationError/unknownFunction(name:nearest:)`` if no function has the name;
  ///   another ``InvocationError`` if the types differ from those that it was registered with.
  public func function<Result, each Argument>(
    _ name: String, as type: ((repeat each Argument) -> Result).Type
  ) throws(InvocationError) -> TypedFunction<Result, repeat each Argument> {
    try TypedFunction(name, function(named: name))
  }
}
