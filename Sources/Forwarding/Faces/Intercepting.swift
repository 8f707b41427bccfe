// SPDX-License-Identifier: Apache-2.0
/// An object of a protocol whose messages pass through handlers on the way to the target.
///
/// ```
/// let watched = Intercepting<ChatDelegateProxy>(screen)
/// watched.proxy.before { call in log("\(call)") }
/// session.delegate = watched.face
/// ```
///
/// It wraps an ``InterceptingProxy``, and follows its rules.
///
/// ```swift
/// func logged<Face: ForwardingFace>(_ target: Face.__Target) -> Face {
///   let logged = Intercepting<Face>(target)
///   logged.proxy.before { call in print("\(call)") }
///   return logged.face
/// }
/// ```
public final class Intercepting<Face: ForwardingFace> {
  /// The proxy that runs the handlers, and forwards to the target.
  public let proxy: InterceptingProxy
  /// The object of the protocol. It retains the proxy, so it may outlive this object.
  public let face: Face

  /// Creates one for a target, which is retained unless `strongly` is false.
  public init(_ target: Face.__Target, strongly: Bool = true) {
    let object = Face.__receiver(of: target)
    proxy = InterceptingProxy(object, strongly: strongly || Face.__isBox(object))
    face = Face(forwardingTo: proxy)
  }

  /// The target, while it is alive.
  public var target: Face.__Target? { proxy.target.flatMap { Face.__found($0) } }

  /// Removes a handler.
  ///
  /// - Returns: false if the handler was removed before.
  @discardableResult
  public func remove(_ token: ForwardingToken) -> Bool { proxy.remove(token) }
}

extension Intercepting: Sendable where Face: Sendable {}
