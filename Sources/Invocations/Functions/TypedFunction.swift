public import TypeEncodings

/// A function of a table, looked up once, with the Swift types that it is called with: a value to call.
///
/// ```swift
/// try unsafe functions.register("pow", encoding: "ddd", unsafeSymbolIn: Library("libm.so.6"))
/// let pow = try functions.function("pow", as: ((Double, Double) -> Double).self)
/// try pow(2, 10)  // 1024.0
/// try functions.function("pow", as: ((Int) -> Int).self)  // throws: 2 arguments are expected, 1 was given
/// ```
///
/// The types are compared when it is looked up, and every call takes little more than one through a
/// function pointer. It calls the function that was found, for as long as it lives: another one that takes
/// the name later, or none, changes nothing here, and the function's library stays open.
///
/// Calls from several threads at once are as safe as the function itself.
public struct TypedFunction<Result, each Argument>: Sendable {
  /// The name under which it was found.
  public let name: String
  @usableFromInline let prepared: PreparedFunction

  init(_ name: String, _ implementation: Implementation) throws(InvocationError) {
    self.name = name
    prepared = try PreparedFunction(implementation, as: Self.self)
  }

  /// What answers.
  public var implementation: Implementation { prepared.implementation }

  /// The signature that it was registered with.
  public var signature: MethodSignature { implementation.signature }

  /// Calls the function.
  @inlinable
  @discardableResult
  public func callAsFunction(_ arguments: repeat each Argument) throws -> Result {
    try unsafe withUnsafePointer(to: (repeat each arguments)) {
      try unsafe prepared.call($0, as: Self.self)
    }
  }
}

extension FunctionTable {
  /// Looks a function up, to be called with certain types: `functions.function("abs", as: ((Int32) ->
  /// Int32).self)`.
  ///
  /// Throws where no function has the name, and where the types are not those that it was registered with.
  public func function<Result, each Argument>(
    _ name: String, as type: ((repeat each Argument) -> Result).Type
  ) throws(InvocationError) -> TypedFunction<Result, repeat each Argument> {
    try TypedFunction(name, function(named: name))
  }
}
