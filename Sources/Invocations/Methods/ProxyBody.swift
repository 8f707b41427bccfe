// SPDX-License-Identifier: Apache-2.0
/// The method by which objects of a class answer a requirement of a protocol.
///
/// Used by code that `@Forwardable` generates. The closure is not `@Sendable`, because it captures
/// the class's conformance to the protocol, which may be isolated to an actor.
///
/// ```swift
/// final class Door {
///   func close() {}
/// }
/// let body = unsafe ProxyBody { (door: Door) in door.close() }
/// ```
@_documentation(visibility: internal)
@safe
public struct ProxyBody<Object: AnyObject>: Sendable {
  /// The method; nil if a type cannot be passed.
  package let implementation: Implementation?

  init(_ make: () throws(InvocationError) -> Implementation) {
    implementation = try? make()
  }

  /// Makes a body from a closure without arguments.
  ///
  /// - Safety: as for any number of arguments.
  @unsafe
  public init<Result>(_ body: @escaping (Object) throws -> Result) {
    self.init { () throws(InvocationError) in
      let fitted = try FittedPlan<Result>(anyMethod: nil)
      return Implementation(fitted, receiver: Object.self, unsafe LentBody.of(fitted, body))
    }
  }

  /// Makes a body from a closure with one argument.
  ///
  /// - Safety: as for any number of arguments.
  @unsafe
  public init<Result, A>(_ body: @escaping (Object, A) throws -> Result) {
    self.init { () throws(InvocationError) in
      let fitted = try FittedPlan<Result, A>(anyMethod: nil)
      return Implementation(fitted, receiver: Object.self, unsafe LentBody.of(fitted, body))
    }
  }

  /// Makes a body from a closure with two arguments.
  ///
  /// - Safety: as for any number of arguments.
  @unsafe
  public init<Result, A, B>(_ body: @escaping (Object, A, B) throws -> Result) {
    self.init { () throws(InvocationError) in
      let fitted = try FittedPlan<Result, A, B>(anyMethod: nil)
      return Implementation(fitted, receiver: Object.self, unsafe LentBody.of(fitted, body))
    }
  }

  /// Makes a body from a closure with three arguments.
  ///
  /// - Safety: as for any number of arguments.
  @unsafe
  public init<Result, A, B, C>(_ body: @escaping (Object, A, B, C) throws -> Result) {
    self.init { () throws(InvocationError) in
      let fitted = try FittedPlan<Result, A, B, C>(anyMethod: nil)
      return Implementation(fitted, receiver: Object.self, unsafe LentBody.of(fitted, body))
    }
  }

  /// Makes a body from a closure with four arguments.
  ///
  /// - Safety: as for any number of arguments.
  @unsafe
  public init<Result, A, B, C, D>(_ body: @escaping (Object, A, B, C, D) throws -> Result) {
    self.init { () throws(InvocationError) in
      let fitted = try FittedPlan<Result, A, B, C, D>(anyMethod: nil)
      return Implementation(fitted, receiver: Object.self, unsafe LentBody.of(fitted, body))
    }
  }

  /// Makes a body from a closure with any number of arguments.
  ///
  /// - Safety: the closure must not capture anything that threads must not share. The lanes of
  ///   targets ensure that it runs where the protocol's requirements may be called.
  @unsafe
  public init<Result, each Argument>(
    _ body: @escaping (Object, repeat each Argument) throws -> Result
  ) {
    self.init { () throws(InvocationError) in
      let fitted = try FittedPlan<Result, repeat each Argument>(anyMethod: nil)
      return Implementation(
        fitted, receiver: Object.self, unsafe AnyBody.returning(fitted, method: body))
    }
  }
}

extension Implementation {
  /// Wraps a method, and calls it only if `check` does not throw.
  package convenience init(
    _ method: Implementation, unless check: @escaping @Sendable () throws -> Void
  ) {
    let body = method.body
    self.init(method) { frame in
      try check()
      try body(frame)
    }
  }
}
