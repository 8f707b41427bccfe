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

  /// Makes a body from a closure with any number of arguments.
  ///
  /// - Safety: the closure must not capture anything that threads must not share. The lanes of
  ///   targets ensure that it runs where the protocol's requirements may be called.
  @unsafe
  public init<Result, each Argument>(
    _ body: @escaping (Object, repeat each Argument) throws -> Result
  ) {
    self.init { () throws(InvocationError) in
      let fitted = try FittedPlan<Result, repeat each Argument>(method: nil)
      return Implementation(
        fitted, receiver: Object.self, unsafe SwiftBody.returning(fitted, method: body))
    }
  }

  /// Makes a body from an `async` closure with any number of arguments.
  ///
  /// - Safety: the closure must not capture anything that threads must not share, and must do
  ///   nothing with the object and the values but call the requirement.
  @unsafe
  public init<Result, each Argument>(
    awaiting body:
      nonisolated(nonsending) @escaping (ProxyCall<Object, repeat each Argument>) async throws
      -> Result
  ) {
    self.init { () throws(InvocationError) in
      let fitted = try FittedPlan<Result, repeat each Argument>(method: nil)
      nonisolated(unsafe) let body = body
      return Implementation(
        fitted, receiver: Object.self,
        awaited: { call in
          let (receiver, arguments) = try call.parts(fitted, Object.self)
          let proxy = ProxyCall(receiver, repeat each arguments)
          try unsafe call.answer(try await body(proxy), fitted.result)
        }, SwiftBody.notAwaited(fitted.plan))
    }
  }

  /// Makes a body for actors. Each of several targets is another actor, so the values must be
  /// `Sendable`.
  ///
  /// - Safety: as for ``init(awaiting:)``.
  @unsafe
  public init<Result: Sendable, each Argument: Sendable>(
    crossing body:
      nonisolated(nonsending) @escaping (ProxyCall<Object, repeat each Argument>) async throws
      -> Result
  ) {
    unsafe self.init(awaiting: body)
  }
}

/// The input of a proxy's awaited method: the object and the arguments.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// final class Door {
///   func close(_ seconds: Int) async {}
/// }
/// let body = unsafe ProxyBody(awaiting: { (call: ProxyCall<Door, Int>) async throws -> Void in
///   await call.object.close(call.values)
/// })
/// ```
@_documentation(visibility: internal)
public struct ProxyCall<Object: AnyObject, each Argument>: @unchecked Sendable {
  // SAFETY: the proxy's own method is called as the requirement says, so the compiler has checked
  // there which values may be sent along with the call. From there on one task has them.

  /// The object.
  public let object: Object
  /// The arguments. A single argument is not a tuple.
  public let values: (repeat each Argument)

  init(_ object: Object, _ values: repeat each Argument) {
    self.object = object
    self.values = (repeat each values)
  }
}
