// SPDX-License-Identifier: Apache-2.0
public import Invocations

extension FunctionTable {
  /// Calls a function with a JSON array of arguments, and returns its result as JSON.
  ///
  /// ```swift
  /// try unsafe functions.register("pow", encoding: "ddd", unsafeSymbolIn: Library("libm.so.6"))
  /// try functions.call("pow", json: "[2, 10]")  // 1024
  /// try functions.call("pow", json: "[2, ten]")  // throws: argument 1: ten does not fit Double (d): a number is expected
  /// ```
  ///
  /// The text is untrusted, as in `setArguments(json:)`.
  ///
  /// - Returns: the result as JSON.
  /// - Throws: `InvocationError` if no function has this name or the call fails,
  ///   ``InvocationTextError`` if the text does not fit the arguments, and the errors of the
  ///   function.
  public func call(_ name: String, json: String) throws -> String {
    let (function, call) = try prepared(name)
    try call.setArguments(json: json)
    try call.invoke(using: function)
    return try call.resultJSON
  }

  /// Calls a function with a JSON array of arguments that may be addresses, and arrays for
  /// pointers.
  ///
  /// - Returns: the result as JSON.
  /// - Throws: the errors of `call(_:json:)`.
  /// - Safety: as for `setArguments(unsafeJSON:)`.
  @unsafe
  public func call(_ name: String, unsafeJSON json: String) throws -> String {
    let (function, call) = try prepared(name)
    try unsafe call.setArguments(unsafeJSON: json)
    try call.invoke(using: function)
    return try call.resultJSON
  }

  private func prepared(_ name: String) throws(InvocationError) -> (Implementation, Invocation) {
    let function = try function(named: name)
    return (function, Invocation(function.plan))
  }
}
