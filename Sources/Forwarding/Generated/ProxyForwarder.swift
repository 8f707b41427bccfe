// SPDX-License-Identifier: Apache-2.0
public import Invocations

/// The destination of a proxy's messages: an untyped proxy, and its targets if they may be called
/// directly.
@_documentation(visibility: internal)
@frozen
public struct _ProxyForwarder: Sendable {
  /// The proxy that gets the messages.
  @usableFromInline let untyped: any ForwardingProxy & Sendable
  /// The targets, if the proxy may call them directly.
  @usableFromInline var targets: ProxyTargets

  /// Makes the destination of a proxy's messages.
  ///
  /// A subclass of the proxies in this package may override how messages are handled, so it gets
  /// all of them, and no target is called directly.
  public init(_ untyped: any ForwardingProxy & Sendable, for proxy: AnyClass) {
    self.untyped = untyped
    KnownProxies.add(proxy)
    (untyped as? MulticastProxy)?.noteFront(proxy)
    let isPlain = type(of: untyped) == MulticastProxy.self
    targets = ProxyTargets(isPlain ? (untyped as? MulticastProxy)?.targetList : nil, for: proxy)
  }
}

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
      var answer: Result?
      let verdict = ProxyDelivery.sendWholly(to: untyped, site.facts) { delivery in
        answer = try send(&delivery)
        return answer != nil
      }
      return ProxyAnswer(verdict, answer)
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

/// The classes of all proxies that were made.
enum KnownProxies {
  private static let classes = Guarded<[UInt: AnyClass]>([:])

  static func number(_ proxy: AnyClass) -> UInt { UInt(bitPattern: ObjectIdentifier(proxy)) }

  static func add(_ proxy: AnyClass) {
    classes.withLockInPlace { $0[number(proxy)] = proxy }
  }

  static func contain(_ type: AnyClass) -> Bool { classes.read { $0[number(type)] != nil } }

  static func type(_ number: UInt) -> (any GeneratedProxy.Type)? {
    classes.read { $0[number] } as? any GeneratedProxy.Type
  }
}
