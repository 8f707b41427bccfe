// SPDX-License-Identifier: Apache-2.0

// Closures with up to four arguments, by a function for each number of them: a parameter pack is walked
// at run time, which takes longer than entering the closure. The others are answered from frames.

extension Callback {
  /// Makes a callback with one argument.
  ///
  /// - Throws: The same errors as the initializer for any number of arguments.
  @inlinable
  public convenience init<Value: CallValue, A: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A>(function: encoding)
    let fit = CallbackFit(fitted)
    try self.init(fitted, SwiftBody.returning(fitted, body), onError, fit) {
      integers, vectors throws in
      var registers = CallbackRegisters(integers, vectors, fit)
      return registers.returning(try body(registers.next()))
    }
  }

  /// Makes a callback with one argument and without a result.
  ///
  /// - Throws: The same errors as the initializer for any number of arguments.
  @inlinable
  public convenience init<A: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A) throws -> Void
  ) throws(InvocationError) {
    try self.init(encoding: encoding, onError: onError) { (a: A) in
      try body(a)
      return NoResult()
    }
  }

  /// Makes a callback with two arguments.
  ///
  /// - Throws: The same errors as the initializer for any number of arguments.
  @inlinable
  public convenience init<Value: CallValue, A: CallValue, B: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A, B) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A, B>(function: encoding)
    let fit = CallbackFit(fitted)
    try self.init(fitted, SwiftBody.returning(fitted, body), onError, fit) {
      integers, vectors throws in
      var registers = CallbackRegisters(integers, vectors, fit)
      return registers.returning(try body(registers.next(), registers.next()))
    }
  }

  /// Makes a callback with two arguments and without a result.
  ///
  /// - Throws: The same errors as the initializer for any number of arguments.
  @inlinable
  public convenience init<A: CallValue, B: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A, B) throws -> Void
  ) throws(InvocationError) {
    try self.init(encoding: encoding, onError: onError) { (a: A, b: B) in
      try body(a, b)
      return NoResult()
    }
  }

  /// Makes a callback with three arguments.
  ///
  /// - Throws: The same errors as the initializer for any number of arguments.
  @inlinable
  public convenience init<Value: CallValue, A: CallValue, B: CallValue, C: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A, B, C) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A, B, C>(function: encoding)
    let fit = CallbackFit(fitted)
    try self.init(fitted, SwiftBody.returning(fitted, body), onError, fit) {
      integers, vectors throws in
      var registers = CallbackRegisters(integers, vectors, fit)
      return registers.returning(try body(registers.next(), registers.next(), registers.next()))
    }
  }

  /// Makes a callback with three arguments and without a result.
  ///
  /// - Throws: The same errors as the initializer for any number of arguments.
  @inlinable
  public convenience init<A: CallValue, B: CallValue, C: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A, B, C) throws -> Void
  ) throws(InvocationError) {
    try self.init(encoding: encoding, onError: onError) { (a: A, b: B, c: C) in
      try body(a, b, c)
      return NoResult()
    }
  }

  /// Makes a callback with four arguments.
  ///
  /// - Throws: The same errors as the initializer for any number of arguments.
  @inlinable
  public convenience init<Value: CallValue, A: CallValue, B: CallValue, C: CallValue, D: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A, B, C, D) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A, B, C, D>(function: encoding)
    let fit = CallbackFit(fitted)
    try self.init(fitted, SwiftBody.returning(fitted, body), onError, fit) {
      integers, vectors throws in
      var registers = CallbackRegisters(integers, vectors, fit)
      return registers.returning(
        try body(registers.next(), registers.next(), registers.next(), registers.next()))
    }
  }

  /// Makes a callback with four arguments and without a result.
  ///
  /// - Throws: The same errors as the initializer for any number of arguments.
  @inlinable
  public convenience init<A: CallValue, B: CallValue, C: CallValue, D: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A, B, C, D) throws -> Void
  ) throws(InvocationError) {
    try self.init(encoding: encoding, onError: onError) { (a: A, b: B, c: C, d: D) in
      try body(a, b, c, d)
      return NoResult()
    }
  }
}
