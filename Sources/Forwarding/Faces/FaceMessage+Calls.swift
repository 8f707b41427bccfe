public import Invocations

// What the code of a face is written with, beside messages.
extension FaceMessage {
  /// Calls what changes its receiver. That is an object, which stays the one that it is.
  @inlinable
  @inline(__always)
  public static func changing<Target, Result, Failure: Error>(
    _ target: Target, _ call: (inout Target) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var target = target
    return try call(&target)
  }

  /// Whether a target is an object, and no value.
  @inlinable
  public static func isObject<Target>(_ target: Target) -> Bool {
    type(of: target as Any) is AnyClass
  }

  /// A target as an object: itself, or the box that is made for a value.
  public static func object<Target, Object>(
    _ target: Target, as type: Object.Type, _ box: (Target) -> Object
  ) -> Object {
    guard isObject(target), let object = target as? Object else { return box(target) }
    return object
  }

  /// Calls what throws only what a closure of its sender throws.
  @inlinable
  public static func rethrowing<Result>(
    _ call: () throws -> Result, _ fail: (any Error) throws -> Result
  ) rethrows -> Result {
    do { return try call() } catch { return try fail(error) }
  }

  /// Stands in the boxes of protocols that inherit one of objects. No such box is ever made: their targets are objects,
  /// which `object(_:as:_:)` returns as they are.
  public static func noBox() -> Never {
    fatalError("a protocol of objects has no values")
  }

  /// Says that a requirement cannot be sent as a message, where a target takes nothing else.
  public static func refuse<Result>(
    _ selector: Selector, because reason: String, through delivery: inout FaceDelivery
  ) throws -> Result {
    let error = delivery.refusal(ForwardingError.notAMessage(selector, because: reason))
    // What has no result wants no answer.
    if delivery.isOver, let nothing = () as? Result { return nothing }
    throw error
  }
}
