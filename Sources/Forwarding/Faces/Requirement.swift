/// One requirement of a protocol, as a message: what a face sends, and the methods of its targets answer.
///
/// Faces are written by `@Forwardable`; nobody else needs this.
///
/// ```swift
/// let close = Requirement<Void, Int>("close:")
/// close.tell(5, through: MulticastProxy())
/// ```
public struct Requirement<Result, each Argument>: Sendable {
  /// The message's name.
  public let selector: Selector
  @usableFromInline let message: Message<Result, repeat each Argument>?
  /// Why there is no message: a type of the protocol's describes itself wrongly.
  private let refusal: InvocationError?

  /// Makes the message of a requirement.
  public init(_ selector: Selector) {
    self.selector = selector
    do throws(InvocationError) {
      message = try Message(selector)
      refusal = nil
    } catch {
      message = nil
      refusal = error
    }
  }

  /// Sends the message, for a requirement that may throw.
  @inlinable
  public func send(
    _ arguments: repeat each Argument, through proxy: ForwardingProxy
  ) throws -> Result {
    guard let message else { throw missing }
    do {
      return try message(repeat each arguments, on: proxy)
    } catch {
      throw proxy.isUnanswered(error, selector)
        ? ForwardingError.nobodyAnswered(selector) : error
    }
  }

  /// Sends the message, for a requirement with a result that cannot throw.
  @inlinable
  public func ask(
    _ arguments: repeat each Argument, through proxy: ForwardingProxy,
    otherwise: () -> Result
  ) -> Result {
    do {
      return try send(repeat each arguments, through: proxy)
    } catch {
      proxy.report(unheard: error, selector)
      return otherwise()
    }
  }

  /// Sends the message, for a requirement with a result that may throw errors of one type. Others are told to
  /// the proxy.
  @inlinable
  public func ask<Failure: Error>(
    _ arguments: repeat each Argument, through proxy: ForwardingProxy, orThrow: Failure.Type,
    otherwise: () -> Result
  ) throws(Failure) -> Result {
    do {
      return try send(repeat each arguments, through: proxy)
    } catch {
      if let error = error as? Failure { throw error }
      proxy.report(unheard: error, selector)
      return otherwise()
    }
  }

  @usableFromInline var missing: InvocationError { refusal ?? .selectorNotSet }

  /// The message; throws if there is none.
  var checked: Message<Result, repeat each Argument> {
    get throws(InvocationError) {
      guard let message else { throw missing }
      return message
    }
  }
}

extension Requirement where Result == Void {
  /// Sends the message, for a requirement without a result that cannot throw.
  @inlinable
  public func tell(_ arguments: repeat each Argument, through proxy: ForwardingProxy) {
    do {
      try send(repeat each arguments, through: proxy)
    } catch {
      proxy.report(unheard: error, selector)
    }
  }

  /// Sends the message, for a requirement without a result that may throw errors of one type.
  @inlinable
  public func tell<Failure: Error>(
    _ arguments: repeat each Argument, through proxy: ForwardingProxy, orThrow: Failure.Type
  ) throws(Failure) {
    try ask(repeat each arguments, through: proxy, orThrow: orThrow) {}
  }
}

extension ForwardingProxy {
  /// Tells of an error that met a sender who cannot throw. That nobody answered is none: the sender has its
  /// own answer for that.
  @usableFromInline
  func report(unheard error: any Error, _ selector: Selector) {
    switch error {
    case ForwardingError.nobodyAnswered, ForwardingError.targetGone: return
    default: break
    }
    if let proxy = self as? MulticastProxy { return proxy.diagnose(.unheard(selector, error)) }
    ForwardingEvent.report(.failed(selector, nil, error))
  }

  /// Whether an error says that the one object behind a proxy left out an optional requirement.
  @usableFromInline
  func isUnanswered(_ error: any Error, _ selector: Selector) -> Bool {
    if error is NotImplemented { return true }
    guard case InvocationError.unrecognizedSelector(selector, _, _) = error else { return false }
    return methodSignature(for: selector) != nil
  }
}
