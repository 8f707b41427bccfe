/// What the method of a face gets that is awaited: the object, and the arguments.
///
/// Faces are written by `@Forwardable`; nobody else needs this.
///
/// ```swift
/// final class Door {
///   func close(_ seconds: Int) async {}
/// }
/// let body = unsafe FaceBody(awaiting: { (call: FaceCall<Door, Int>) async throws -> Void in
///   await call.object.close(call.values)
/// })
/// ```
public struct FaceCall<Object: AnyObject, each Argument>: @unchecked Sendable {
  // SAFETY: the face's own method is called as the requirement says, so the compiler has checked there what goes
  // with the call; from there on it is in the hands of one task.

  /// The object.
  public let object: Object
  /// The arguments; one of them is no tuple.
  public let values: (repeat each Argument)

  init(_ object: Object, _ values: repeat each Argument) {
    self.object = object
    self.values = (repeat each values)
  }
}

extension FaceBody {
  /// Makes one of an `async` closure of any number of arguments.
  ///
  /// - Safety: the closure captures nothing that threads must not share, and does no more with the object and
  ///   the values than to call the requirement.
  @unsafe
  public init<Result, each Argument>(
    awaiting body:
      nonisolated(nonsending) @escaping (FaceCall<Object, repeat each Argument>) async throws
      -> Result
  ) {
    self.init { () throws(InvocationError) in
      let fitted = try FittedPlan<Result, repeat each Argument>(anyMethod: nil)
      nonisolated(unsafe) let body = body
      return Implementation(
        fitted, receiver: Object.self, withoutResult: nil,
        awaited: { call in
          let (receiver, arguments) = try call.parts(fitted, Object.self)
          let face = FaceCall(receiver, repeat each arguments)
          try unsafe call.answer(try await body(face), fitted.result)
        }, AwaitedBody.refusing(fitted.plan))
    }
  }

  /// Makes one for actors: each of several targets is another one, so what goes to them is `Sendable`.
  ///
  /// - Safety: as for others.
  @unsafe
  public init<Result: Sendable, each Argument: Sendable>(
    crossing body:
      nonisolated(nonsending) @escaping (FaceCall<Object, repeat each Argument>) async throws
      -> Result
  ) {
    unsafe self.init(awaiting: body)
  }
}
