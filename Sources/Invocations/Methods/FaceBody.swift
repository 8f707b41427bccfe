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
public struct FaceBody<Object: AnyObject, Result, each Argument>: Sendable {
  // SAFETY: whoever made it has vouched for that threads may share it.
  private nonisolated(unsafe) let body: (Object, repeat each Argument) throws -> Result

  /// Makes one of a closure.
  ///
  /// - Safety: the closure captures nothing that threads must not share. That it runs where the protocol's
  ///   requirements may be called, the lanes of targets see to.
  @unsafe
  public init(_ body: @escaping (Object, repeat each Argument) throws -> Result) {
    unsafe self.body = body
  }

  /// Answers.
  package func callAsFunction(
    _ object: Object, _ arguments: repeat each Argument
  ) throws -> Result {
    try unsafe body(object, repeat each arguments)
  }
}

extension Implementation {
  /// A method that a face made, for the objects of one class; `check` comes first.
  package convenience init<Receiver: AnyObject, Value, each Argument>(
    _ fitted: FittedPlan<Value, repeat each Argument>,
    _ body: FaceBody<Receiver, Value, repeat each Argument>,
    optional selector: Selector?, unless check: (@Sendable () throws -> Void)?
  ) {
    let method: @Sendable (Receiver, repeat each Argument) throws -> Value = {
      (receiver: Receiver, arguments: repeat each Argument) in
      try check?()
      guard let selector else { return try body(receiver, repeat each arguments) }
      return try OptionalRequirement.run(selector, of: receiver) {
        try body(receiver, repeat each arguments)
      }
    }
    self.init(fitted, receiver: Receiver.self, unsafe AnyBody.returning(fitted, method: method))
  }
}
