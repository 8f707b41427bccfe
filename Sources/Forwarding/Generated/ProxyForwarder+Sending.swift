// SPDX-License-Identifier: Apache-2.0
public import Invocations

// The functions that implement the requirements of a proxy.

extension _ProxyForwarder {
  /// Delivers a requirement: calls the targets that the proxy may call directly, and sends messages
  /// to the others.
  ///
  /// - Parameters:
  ///   - selector: the name of its message.
  ///   - direct: calls the requirement of a target.
  ///   - later: gives a lane what calls it.
  ///   - send: sends the message.
  @inlinable
  @inline(__always)
  public func deliver<Target, Result, Failure: Error>(
    _ site: ProxySite<Result>, _ selector: @autoclosure () -> Selector,
    _ direct: (borrowing ProxyTarget<Target>) throws(Failure) -> Result,
    later: (inout QueuedCall) -> Void = { _ in },
    _ send: (inout ProxyDelivery) throws -> Result?
  ) -> ProxyAnswer<Result> {
    guard targets.areListed else {
      return ProxyDelivery.sendWholly(to: untyped, site.facts, send)
    }
    return ProxyDelivery.deliver(site, selector, to: targets, direct, later, send)
  }

  /// Delivers a `rethrows` requirement. Its sender gets an error only if a closure argument threw
  /// one: where the closures cannot throw, the compiler expects no error at all. Errors of the
  /// delivery itself are reported to the proxy.
  ///
  /// - Parameters:
  ///   - deliver: delivers, and notes that the call of a target threw.
  ///   - throwing: throws its argument.
  @inlinable
  @inline(__always)
  public func rethrow<Result>(
    _ selector: @autoclosure () -> Selector, _ deliver: (inout Bool) throws -> Result,
    otherwise: () -> Result, throwing: (any Error) throws -> Result
  ) rethrows -> Result {
    var hasThrown = false
    do { return try deliver(&hasThrown) } catch {
      if hasThrown { return try throwing(error) }
      untyped.report(unheard: error, selector())
      return otherwise()
    }
  }
}

// What the sender gets.
extension ProxyAnswer {
  /// Returns the answer of a requirement that may throw any error.
  ///
  /// - Throws: the error of a target, or a ``ForwardingError`` if no target answers.
  @inlinable
  @inline(__always)
  public func get(
    _ forwarder: _ProxyForwarder, _ selector: @autoclosure () -> Selector
  ) throws -> Result {
    switch self {
    case .answered(let answer): return answer
    case .unanswered(let error): return try Self.orThrow(selector(), error)
    case .failed(let error, _): throw error
    }
  }

  /// Returns the answer of a requirement that throws errors of one type, or none. Other errors are
  /// reported to the proxy, and the sender gets the answer of another target, if there is one.
  ///
  /// - Throws: the error of a target, if it has this type.
  @inlinable
  @inline(__always)
  public func get<Thrown: Error>(
    _ forwarder: _ProxyForwarder, _ selector: @autoclosure () -> Selector,
    otherwise: () throws(Thrown) -> Result
  ) throws(Thrown) -> Result {
    switch self {
    case .answered(let answer): return answer
    case .unanswered: return try otherwise()
    case .failed(let error, let answer):
      if let error = error as? Thrown { throw error }
      forwarder.untyped.report(unheard: error, selector())
      if let answer { return answer }
      return try otherwise()
    }
  }

  /// What a sender that can throw gets where no target answers: nothing, if that is a result.
  @usableFromInline
  @inline(never)
  static func orThrow(_ selector: Selector, _ error: (any Error)?) throws -> Result {
    if error == nil, let nothing { return nothing }
    throw error as? ForwardingError ?? ForwardingError.nobodyAnswered(selector)
  }
}
