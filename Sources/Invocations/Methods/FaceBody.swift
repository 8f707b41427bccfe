/// How the objects of a class answer a requirement of a protocol.
///
/// Faces are written by `@Forwardable`; nobody else needs this. The closure is not `@Sendable`, as it refers
/// to how a class conforms to the protocol, which may be on an actor alone.
///
/// ```swift
/// final class Door {
///   func close() {}
/// }
/// let body = unsafe FaceBody { (door: Door) in door.close() }
/// ```
@safe
public struct FaceBody<Object: AnyObject>: Sendable {
  /// The method; nil if a type cannot be passed.
  package let implementation: Implementation?

  init(_ make: () throws(InvocationError) -> Implementation) {
    implementation = try? make()
  }

  /// Makes one of a closure of no arguments.
  ///
  /// - Safety: as for any number of arguments.
  @unsafe
  public init<Result>(_ body: @escaping (Object) throws -> Result) {
    self.init { () throws(InvocationError) in
      let fitted = try FittedPlan<Result>(anyMethod: nil)
      return Implementation(fitted, receiver: Object.self, unsafe LentBody.of(fitted, body))
    }
  }

  /// Makes one of a closure of one argument.
  ///
  /// - Safety: as for any number of arguments.
  @unsafe
  public init<Result, A>(_ body: @escaping (Object, A) throws -> Result) {
    self.init { () throws(InvocationError) in
      let fitted = try FittedPlan<Result, A>(anyMethod: nil)
      return Implementation(fitted, receiver: Object.self, unsafe LentBody.of(fitted, body))
    }
  }

  /// Makes one of a closure of two arguments.
  ///
  /// - Safety: as for any number of arguments.
  @unsafe
  public init<Result, A, B>(_ body: @escaping (Object, A, B) throws -> Result) {
    self.init { () throws(InvocationError) in
      let fitted = try FittedPlan<Result, A, B>(anyMethod: nil)
      return Implementation(fitted, receiver: Object.self, unsafe LentBody.of(fitted, body))
    }
  }

  /// Makes one of a closure of three arguments.
  ///
  /// - Safety: as for any number of arguments.
  @unsafe
  public init<Result, A, B, C>(_ body: @escaping (Object, A, B, C) throws -> Result) {
    self.init { () throws(InvocationError) in
      let fitted = try FittedPlan<Result, A, B, C>(anyMethod: nil)
      return Implementation(fitted, receiver: Object.self, unsafe LentBody.of(fitted, body))
    }
  }

  /// Makes one of a closure of four arguments.
  ///
  /// - Safety: as for any number of arguments.
  @unsafe
  public init<Result, A, B, C, D>(_ body: @escaping (Object, A, B, C, D) throws -> Result) {
    self.init { () throws(InvocationError) in
      let fitted = try FittedPlan<Result, A, B, C, D>(anyMethod: nil)
      return Implementation(fitted, receiver: Object.self, unsafe LentBody.of(fitted, body))
    }
  }

  /// Makes one of a closure of any number of arguments.
  ///
  /// - Safety: the closure captures nothing that threads must not share. That it runs where the protocol's
  ///   requirements may be called, the lanes of targets see to.
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
  /// The same method, unless `check` throws.
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
