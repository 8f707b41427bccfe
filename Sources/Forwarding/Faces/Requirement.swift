/// One requirement of a protocol, as a message: what a face sends, and the methods of its targets answer.
///
/// Faces are written by `@Forwardable`; nobody else needs this.
///
/// ```swift
/// let close = Requirement<Void, Int>("close:")
/// let everyone = MulticastProxy()
/// close.tell(through: everyone) { try FaceMessage.send($0, 5, through: everyone) }
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

  /// Asks by `send`, for a requirement that may throw.
  @inlinable
  @inline(__always)
  public func ask(
    through proxy: ForwardingProxy, _ send: (Requirement) throws -> Result
  ) throws -> Result {
    do {
      return try send(self)
    } catch {
      throw proxy.isUnanswered(error, selector)
        ? ForwardingError.nobodyAnswered(selector) : error
    }
  }

  /// Asks by `send`, for a requirement with a result that cannot throw.
  @inlinable
  @inline(__always)
  public func ask(
    through proxy: ForwardingProxy, _ send: (Requirement) throws -> Result,
    otherwise: () -> Result
  ) -> Result {
    do {
      return try send(self)
    } catch {
      proxy.report(unheard: error, selector)
      return otherwise()
    }
  }

  /// Asks by `send`, for a requirement with a result that may throw errors of one type. Others are told to
  /// the proxy.
  @inlinable
  @inline(__always)
  public func ask<Failure: Error>(
    through proxy: ForwardingProxy, orThrow: Failure.Type, _ send: (Requirement) throws -> Result,
    otherwise: () -> Result
  ) throws(Failure) -> Result {
    do {
      return try send(self)
    } catch {
      if let error = error as? Failure, !proxy.isUnanswered(error, selector) { throw error }
      proxy.report(unheard: error, selector)
      return otherwise()
    }
  }

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
  /// Tells by `send`, for a requirement without a result that cannot throw.
  @inlinable
  @inline(__always)
  public func tell(through proxy: ForwardingProxy, _ send: (Requirement) throws -> Void) {
    do {
      try send(self)
    } catch {
      proxy.report(unheard: error, selector)
    }
  }

  /// Tells by `send`, for a requirement without a result that may throw errors of one type.
  @inlinable
  @inline(__always)
  public func tell<Failure: Error>(
    through proxy: ForwardingProxy, orThrow: Failure.Type, _ send: (Requirement) throws -> Void
  ) throws(Failure) {
    try ask(through: proxy, orThrow: orThrow, send) {}
  }
}

extension ForwardingProxy {
  /// Tells of an error that met a sender who cannot throw. That nobody answered is none: the sender has its
  /// own answer for that.
  @usableFromInline
  func report(unheard error: any Error, _ selector: Selector) {
    switch error {
    case ForwardingError.nobodyAnswered, ForwardingError.targetGone: return
    default: if isUnanswered(error, selector) { return }
    }
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
