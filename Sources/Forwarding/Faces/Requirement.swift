/// One requirement of a protocol, as a message: what a face sends, and the methods of its targets answer.
///
/// Faces are written by `@Forwardable`; nobody else needs this.
///
/// ```swift
/// let close = Requirement<Void, Int>("close:")
/// let everyone = MulticastProxy()
/// var delivery = FaceDelivery(to: everyone)
/// try FaceMessage.send(close, 5, through: &delivery)
/// ```
public final class Requirement<Result, each Argument>: Sendable {
  /// The message's name.
  public let selector: Selector
  @usableFromInline package let prepared: PreparedMessage?
  /// Why there is no message: a type of the protocol's describes itself wrongly.
  private let refusal: InvocationError?

  /// Makes the message of a requirement.
  public init(_ selector: Selector) {
    self.selector = selector
    do throws(InvocationError) {
      prepared = try Message<Result, repeat each Argument>(selector).prepared
      refusal = nil
    } catch {
      prepared = nil
      refusal = error
    }
  }

  /// Delivers the requirement: calls the targets that the face may call, and sends messages to all others.
  ///
  /// - Parameters:
  ///   - forwarder: where the messages of the face go.
  ///   - place: where the face has the protocol of the requirement.
  ///   - direct: calls the requirement of a target.
  ///   - send: sends the message.
  @inlinable
  @inline(__always)
  func deliver<Target, Failure: Error>(
    through forwarder: FaceForwarder, _ place: Int, isOptional: Bool,
    _ direct: (Target) throws(Failure) -> Result,
    _ send: (Requirement, inout FaceDelivery) throws -> Result
  ) -> FaceAnswer<Result> {
    FaceDelivery.deliver(
      selector, isOptional: isOptional, to: forwarder.targets, of: forwarder.proxy, place, direct
    ) { delivery in try send(self, &delivery) }
  }

  /// Asks the targets, for a requirement that may throw.
  @inlinable
  @inline(__always)
  public func ask<Target, Failure: Error>(
    through forwarder: FaceForwarder, _ place: Int, isOptional: Bool = false,
    _ direct: (Target) throws(Failure) -> Result,
    _ send: (Requirement, inout FaceDelivery) throws -> Result
  ) throws -> Result {
    switch deliver(through: forwarder, place, isOptional: isOptional, direct, send) {
    case .answered(let answer): return answer
    case .unanswered(let error): throw error is ForwardingError ? error : nobody
    case .failed(let error): throw error
    }
  }

  /// Asks the targets, for a requirement with a result that cannot throw.
  @inlinable
  @inline(__always)
  public func ask<Target>(
    through forwarder: FaceForwarder, _ place: Int, isOptional: Bool = false,
    _ direct: (Target) -> Result, _ send: (Requirement, inout FaceDelivery) throws -> Result,
    otherwise: () -> Result
  ) -> Result {
    switch deliver(through: forwarder, place, isOptional: isOptional, direct, send) {
    case .answered(let answer): return answer
    case .unanswered: return otherwise()
    case .failed(let error):
      forwarder.proxy.report(unheard: error, selector)
      return otherwise()
    }
  }

  /// Asks the targets, for a requirement with a result that may throw errors of one type. Others are told to the
  /// proxy.
  @inlinable
  @inline(__always)
  public func ask<Target, Failure: Error, Thrown: Error>(
    through forwarder: FaceForwarder, _ place: Int, isOptional: Bool = false,
    orThrow: Thrown.Type, _ direct: (Target) throws(Failure) -> Result,
    _ send: (Requirement, inout FaceDelivery) throws -> Result, otherwise: () -> Result
  ) throws(Thrown) -> Result {
    switch deliver(through: forwarder, place, isOptional: isOptional, direct, send) {
    case .answered(let answer): return answer
    case .unanswered: return otherwise()
    case .failed(let error):
      if let error = error as? Thrown { throw error }
      forwarder.proxy.report(unheard: error, selector)
      return otherwise()
    }
  }

  @usableFromInline var nobody: ForwardingError { .nobodyAnswered(selector) }

  @usableFromInline var missing: InvocationError { refusal ?? .selectorNotSet }

  /// The message; throws if its types cannot be passed.
  @usableFromInline
  package var checked: Message<Result, repeat each Argument> {
    get throws(InvocationError) {
      guard let prepared else { throw missing }
      return Message(selector, prepared)
    }
  }
}

extension Requirement where Result == Void {
  /// Tells the targets, for a requirement without a result that cannot throw.
  @inlinable
  @inline(__always)
  public func tell<Target>(
    through forwarder: FaceForwarder, _ place: Int, isOptional: Bool = false,
    _ direct: (Target) -> Void, _ send: (Requirement, inout FaceDelivery) throws -> Void
  ) {
    if case .failed(let error) = deliver(
      through: forwarder, place, isOptional: isOptional, direct, send)
    {
      forwarder.proxy.report(unheard: error, selector)
    }
  }

  /// Tells the targets, for a requirement without a result that may throw errors of one type.
  @inlinable
  @inline(__always)
  public func tell<Target, Failure: Error, Thrown: Error>(
    through forwarder: FaceForwarder, _ place: Int, isOptional: Bool = false,
    orThrow: Thrown.Type, _ direct: (Target) throws(Failure) -> Void,
    _ send: (Requirement, inout FaceDelivery) throws -> Void
  ) throws(Thrown) {
    try ask(
      through: forwarder, place, isOptional: isOptional, orThrow: orThrow, direct, send,
      otherwise: {})
  }
}

extension ForwardingProxy {
  /// Tells of an error of a target that met a sender who cannot throw.
  @usableFromInline
  @inline(never)
  func report(unheard error: any Error, _ selector: Selector) {
    if let proxy = self as? MulticastProxy { return proxy.diagnose(.unheard(selector, error)) }
    // What is behind the face: a journal, say, which has no target to name.
    ForwardingEvent.report(.failed(selector, type(of: self), error))
  }

  /// Whether an error says that the one object behind a proxy left out an optional requirement.
  @usableFromInline
  func isUnanswered(_ error: any Error, _ selector: Selector) -> Bool {
    if error is NotImplemented { return true }
    guard case InvocationError.unrecognizedSelector(selector, _, _) = error else { return false }
    return methodSignature(for: selector) != nil
  }
}
