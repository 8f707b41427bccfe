public import Invocations

// How a face answers its requirements.

extension FaceForwarder {
  /// Delivers a requirement: calls the targets that the face may call, and sends messages to all others.
  ///
  /// - Parameters:
  ///   - place: where the face has the protocol of the requirement.
  ///   - selector: the name of its message.
  ///   - direct: calls the requirement of a target.
  ///   - later: gives a queue what calls it.
  ///   - send: sends the message.
  @inlinable
  @inline(__always)
  func deliver<Target, Result, Failure: Error>(
    _ place: Int, _ selector: () -> Selector, isOptional: Bool,
    _ direct: (borrowing FaceTarget<Target>) throws(Failure) -> Result,
    _ later: (inout QueuedCall) -> Void,
    _ send: (inout FaceDelivery) throws -> Result
  ) -> FaceAnswer<Result> {
    FaceDelivery.deliver(
      selector, isOptional: isOptional, to: targets, of: proxy, place, direct, later, send)
  }

  /// Asks the targets, for a requirement that may throw.
  @inlinable
  @inline(__always)
  public func ask<Target, Result, Failure: Error>(
    _ place: Int, _ selector: @autoclosure () -> Selector, isOptional: Bool = false,
    _ direct: (borrowing FaceTarget<Target>) throws(Failure) -> Result,
    later: (inout QueuedCall) -> Void = { _ in },
    _ send: (inout FaceDelivery) throws -> Result
  ) throws -> Result {
    switch deliver(place, selector, isOptional: isOptional, direct, later, send) {
    case .answered(let answer): return answer
    case .unanswered(let error):
      throw error is ForwardingError ? error : ForwardingError.nobodyAnswered(selector())
    case .failed(let error): throw error
    }
  }

  /// Asks the targets, for a requirement with a result that cannot throw.
  @inlinable
  @inline(__always)
  public func ask<Target, Result>(
    _ place: Int, _ selector: @autoclosure () -> Selector, isOptional: Bool = false,
    _ direct: (borrowing FaceTarget<Target>) -> Result,
    _ send: (inout FaceDelivery) throws -> Result,
    otherwise: () -> Result
  ) -> Result {
    switch deliver(place, selector, isOptional: isOptional, direct, { _ in }, send) {
    case .answered(let answer): return answer
    case .unanswered: return otherwise()
    case .failed(let error):
      proxy.report(unheard: error, selector())
      return otherwise()
    }
  }

  /// Asks the targets, for a requirement with a result that may throw errors of one type. Others are told to the
  /// proxy.
  @inlinable
  @inline(__always)
  public func ask<Target, Result, Failure: Error, Thrown: Error>(
    _ place: Int, _ selector: @autoclosure () -> Selector, isOptional: Bool = false,
    orThrow: Thrown.Type, _ direct: (borrowing FaceTarget<Target>) throws(Failure) -> Result,
    later: (inout QueuedCall) -> Void = { _ in },
    _ send: (inout FaceDelivery) throws -> Result, otherwise: () -> Result
  ) throws(Thrown) -> Result {
    switch deliver(place, selector, isOptional: isOptional, direct, later, send) {
    case .answered(let answer): return answer
    case .unanswered: return otherwise()
    case .failed(let error):
      if let error = error as? Thrown { throw error }
      proxy.report(unheard: error, selector())
      return otherwise()
    }
  }

  /// Tells the targets, for a requirement without a result that cannot throw.
  @inlinable
  @inline(__always)
  public func tell<Target>(
    _ place: Int, _ selector: @autoclosure () -> Selector, isOptional: Bool = false,
    _ direct: (borrowing FaceTarget<Target>) -> Void,
    later: (inout QueuedCall) -> Void = { _ in },
    _ send: (inout FaceDelivery) throws -> Void
  ) {
    if case .failed(let error) = deliver(
      place, selector, isOptional: isOptional, direct, later, send)
    {
      proxy.report(unheard: error, selector())
    }
  }

  /// Tells the targets, for a requirement without a result that may throw errors of one type.
  @inlinable
  @inline(__always)
  public func tell<Target, Failure: Error, Thrown: Error>(
    _ place: Int, _ selector: @autoclosure () -> Selector, isOptional: Bool = false,
    orThrow: Thrown.Type, _ direct: (borrowing FaceTarget<Target>) throws(Failure) -> Void,
    later: (inout QueuedCall) -> Void = { _ in },
    _ send: (inout FaceDelivery) throws -> Void
  ) throws(Thrown) {
    try ask(
      place, selector(), isOptional: isOptional, orThrow: orThrow, direct, later: later, send,
      otherwise: {})
  }
}
