// SPDX-License-Identifier: Apache-2.0

// Closures that C calls only during a call of one of its functions.

/// Calls `run` with a C function pointer that runs `body`, and a context to pass with it.
///
/// The closure does not escape: it need not be `Sendable`, and nothing is allocated for it if its values
/// are in registers. It takes all arguments that C passes, also a context, for which any value serves: the
/// pointer itself knows its closure. What it throws leaves this function when `run` returns; until then
/// C gets zero, and the closure is not called again.
///
/// ```swift
/// var comparisons = 0
/// let descending = { (a: UnsafePointer<Int32>, b: UnsafePointer<Int32>) -> Int32 in
///   comparisons += 1
///   return unsafe a.pointee > b.pointee ? -1 : a.pointee < b.pointee ? 1 : 0
/// }
/// withCallback(descending) { order, _ in
///   unsafe qsort(&numbers, numbers.count, 4, order.function())
/// }
/// numbers           // [3, 2, 1]
/// comparisons > 0   // true
/// ```
///
/// After `run` has returned, a call of the pointer answers zero, and is reported as a
/// ``ForwardingEvent``, until the function is used for another closure; those that ended first are used
/// first. A call on another thread, or inside of another call of the closure, ends the program with a
/// sentence; a ``Callback`` may be called there.
@safe
@inlinable
public func withCallback<Value: CallValue, A: CallValue, Failure: Error, Result>(
  _ body: (A) throws(Failure) -> Value,
  run: (CallbackPointer, UnsafeMutableRawPointer) throws(Failure) -> Result
) throws(Failure) -> Result {
  var scope = CallbackScope<Failure>(FittedPlan<Value, A>.self)
  let outcome = unsafe CallbackScope.run(scope.fit, run) { integers, vectors in
    @inline(__always)
    func answer(_ registers: inout CallbackRegisters) throws(Failure) -> Value? {
      guard let a: A = registers.read() else { return nil }
      return try body(a)
    }
    return scope.answer(integers, vectors, answer)
  }
  if let result = try scope.end(outcome) { return result }
  return try unsafe CallbackScope.framed(body, run)
}

/// Calls `run` with a C function pointer that runs a closure with one argument and without a result; see `withCallback`.
@_documentation(visibility: internal)
@safe
@inlinable
public func withCallback<A: CallValue, Failure: Error, Result>(
  _ body: (A) throws(Failure) -> Void,
  run: (CallbackPointer, UnsafeMutableRawPointer) throws(Failure) -> Result
) throws(Failure) -> Result {
  try withCallback(
    { (a: A) throws(Failure) in
      try body(a)
      return NoResult()
    }, run: run)
}

/// Calls `run` with a C function pointer that runs a closure with two arguments; see `withCallback`.
@_documentation(visibility: internal)
@safe
@inlinable
public func withCallback<Value: CallValue, A: CallValue, B: CallValue, Failure: Error, Result>(
  _ body: (A, B) throws(Failure) -> Value,
  run: (CallbackPointer, UnsafeMutableRawPointer) throws(Failure) -> Result
) throws(Failure) -> Result {
  var scope = CallbackScope<Failure>(FittedPlan<Value, A, B>.self)
  let outcome = unsafe CallbackScope.run(scope.fit, run) { integers, vectors in
    @inline(__always)
    func answer(_ registers: inout CallbackRegisters) throws(Failure) -> Value? {
      guard let a: A = registers.read(), let b: B = registers.read() else { return nil }
      return try body(a, b)
    }
    return scope.answer(integers, vectors, answer)
  }
  if let result = try scope.end(outcome) { return result }
  return try unsafe CallbackScope.framed(body, run)
}

/// Calls `run` with a C function pointer that runs a closure with two arguments and without a result; see `withCallback`.
@_documentation(visibility: internal)
@safe
@inlinable
public func withCallback<A: CallValue, B: CallValue, Failure: Error, Result>(
  _ body: (A, B) throws(Failure) -> Void,
  run: (CallbackPointer, UnsafeMutableRawPointer) throws(Failure) -> Result
) throws(Failure) -> Result {
  try withCallback(
    { (a: A, b: B) throws(Failure) in
      try body(a, b)
      return NoResult()
    }, run: run)
}

/// Calls `run` with a C function pointer that runs a closure with three arguments; see `withCallback`.
@_documentation(visibility: internal)
@safe
@inlinable
public func withCallback<
  Value: CallValue, A: CallValue, B: CallValue, C: CallValue, Failure: Error, Result
>(
  _ body: (A, B, C) throws(Failure) -> Value,
  run: (CallbackPointer, UnsafeMutableRawPointer) throws(Failure) -> Result
) throws(Failure) -> Result {
  var scope = CallbackScope<Failure>(FittedPlan<Value, A, B, C>.self)
  let outcome = unsafe CallbackScope.run(scope.fit, run) { integers, vectors in
    @inline(__always)
    func answer(_ registers: inout CallbackRegisters) throws(Failure) -> Value? {
      guard let a: A = registers.read(), let b: B = registers.read(),
        let c: C = registers.read()
      else { return nil }
      return try body(a, b, c)
    }
    return scope.answer(integers, vectors, answer)
  }
  if let result = try scope.end(outcome) { return result }
  return try unsafe CallbackScope.framed(body, run)
}

/// Calls `run` with a C function pointer that runs a closure with three arguments and without a result; see `withCallback`.
@_documentation(visibility: internal)
@safe
@inlinable
public func withCallback<A: CallValue, B: CallValue, C: CallValue, Failure: Error, Result>(
  _ body: (A, B, C) throws(Failure) -> Void,
  run: (CallbackPointer, UnsafeMutableRawPointer) throws(Failure) -> Result
) throws(Failure) -> Result {
  try withCallback(
    { (a: A, b: B, c: C) throws(Failure) in
      try body(a, b, c)
      return NoResult()
    }, run: run)
}

/// Calls `run` with a C function pointer that runs a closure with four arguments; see `withCallback`.
@_documentation(visibility: internal)
@safe
@inlinable
public func withCallback<
  Value: CallValue, A: CallValue, B: CallValue, C: CallValue, D: CallValue, Failure: Error, Result
>(
  _ body: (A, B, C, D) throws(Failure) -> Value,
  run: (CallbackPointer, UnsafeMutableRawPointer) throws(Failure) -> Result
) throws(Failure) -> Result {
  var scope = CallbackScope<Failure>(FittedPlan<Value, A, B, C, D>.self)
  let outcome = unsafe CallbackScope.run(scope.fit, run) { integers, vectors in
    @inline(__always)
    func answer(_ registers: inout CallbackRegisters) throws(Failure) -> Value? {
      guard let a: A = registers.read(), let b: B = registers.read(),
        let c: C = registers.read(), let d: D = registers.read()
      else { return nil }
      return try body(a, b, c, d)
    }
    return scope.answer(integers, vectors, answer)
  }
  if let result = try scope.end(outcome) { return result }
  return try unsafe CallbackScope.framed(body, run)
}

/// Calls `run` with a C function pointer that runs a closure with four arguments and without a result; see `withCallback`.
@_documentation(visibility: internal)
@safe
@inlinable
public func withCallback<
  A: CallValue, B: CallValue, C: CallValue, D: CallValue, Failure: Error, Result
>(
  _ body: (A, B, C, D) throws(Failure) -> Void,
  run: (CallbackPointer, UnsafeMutableRawPointer) throws(Failure) -> Result
) throws(Failure) -> Result {
  try withCallback(
    { (a: A, b: B, c: C, d: D) throws(Failure) in
      try body(a, b, c, d)
      return NoResult()
    }, run: run)
}

/// Calls `run` with a C function pointer that runs a closure with any number of arguments; see
/// `withCallback`.
@_documentation(visibility: internal)
@safe
@inlinable
public func withCallback<Value: CallValue, each Argument: CallValue, Failure: Error, Result>(
  _ body: (repeat each Argument) throws(Failure) -> Value,
  run: (CallbackPointer, UnsafeMutableRawPointer) throws(Failure) -> Result
) throws(Failure) -> Result { try unsafe CallbackScope.framed(body, run) }

/// Calls `run` with a C function pointer that runs a closure with any number of arguments and without a
/// result; see `withCallback`.
@_documentation(visibility: internal)
@safe
@inlinable
public func withCallback<each Argument: CallValue, Failure: Error, Result>(
  _ body: (repeat each Argument) throws(Failure) -> Void,
  run: (CallbackPointer, UnsafeMutableRawPointer) throws(Failure) -> Result
) throws(Failure) -> Result {
  try unsafe CallbackScope.framed(
    { (arguments: repeat each Argument) throws(Failure) in
      try body(repeat each arguments)
      return NoResult()
    }, run)
}
