// SPDX-License-Identifier: Apache-2.0
/// An object of a protocol whose messages pass through handlers on the way to the target.
///
/// ```
/// let watched = Intercepting<ChatDelegateProxy>(screen)
/// unsafe watched.proxy.before { call in log("\(call)") }
/// session.delegate = watched.face
/// ```
///
/// It wraps an ``InterceptingProxy``, and follows its rules.
///
/// ```swift
/// func logged<Face: ForwardingFace>(_ target: Face.__Target) -> Face {
///   let logged = Intercepting<Face>(target)
///   unsafe logged.proxy.before { call in print("\(call)") }
///   return logged.face
/// }
/// ```
public final class Intercepting<Face: ForwardingFace> {
  /// The proxy that runs the handlers, and forwards to the target.
  let forwarder: InterceptingProxy
  /// The object of the protocol. It retains the proxy, so it may outlive this object.
  public let face: Face

  /// Creates one for a target, which is retained unless `strongly` is false.
  public init(_ target: Face.__Target, strongly: Bool = true) {
    let object = Face.__receiver(of: target)
    forwarder = InterceptingProxy(object, strongly: strongly || Face.__isBox(object))
    face = Face(forwardingTo: forwarder)
  }

  /// The target, while it is alive.
  public var target: Face.__Target? { forwarder.target.flatMap { Face.__found($0) } }

  /// Removes a handler.
  ///
  /// - Returns: false if the handler was removed before.
  @discardableResult
  public func remove(_ token: ForwardingToken) -> Bool { forwarder.remove(token) }
}

extension Intercepting {
  /// The proxy that runs the handlers, and forwards to the target.
  ///
  /// - Safety: the proxy gives its target to any thread. Where the protocol is not `Sendable`, no
  ///   other thread may use it.
  @unsafe
  public var proxy: InterceptingProxy { forwarder }
}

extension Intercepting where Face: Sendable {
  /// The proxy that runs the handlers, and forwards to the target.
  public var proxy: InterceptingProxy { forwarder }
}

extension Intercepting: Sendable where Face: Sendable {}
