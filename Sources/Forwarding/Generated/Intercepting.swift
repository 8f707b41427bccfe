// SPDX-License-Identifier: Apache-2.0
/// An object of a protocol whose messages pass through handlers on the way to the target.
///
/// <!-- macros -->
/// ```swift
/// let watched = Intercepting<ChatDelegateProxy>(window)
/// unsafe watched.untyped.before { call in print("\(call)") }
/// session.delegate = watched.proxy
/// ```
///
/// It wraps an ``InterceptingProxy``, and follows its rules.
public final class Intercepting<Proxy: GeneratedProxy> {
  /// The proxy that runs the handlers, and forwards to the target.
  let forwarder: InterceptingProxy
  /// The object of the protocol. It retains the proxy, so it may outlive this object.
  public let proxy: Proxy

  /// Creates one for a target, which is retained unless `strongly` is false.
  public init(_ target: Proxy.__Target, strongly: Bool = true) {
    let target = RegisteredTarget(target, of: Proxy.self)
    forwarder = InterceptingProxy(target.object, strongly: strongly || target.isBox)
    proxy = Proxy(forwardingTo: forwarder)
  }

  /// The target, while it is alive.
  public var target: Proxy.__Target? { forwarder.target.flatMap { Proxy.__found($0) } }
}

extension Intercepting {
  /// The proxy that runs the handlers, and forwards to the target.
  ///
  /// - Safety: the proxy gives its target to any thread. Where the protocol is not `Sendable`, no
  ///   other thread may use it.
  @unsafe
  public var untyped: InterceptingProxy { forwarder }
}

extension Intercepting where Proxy: Sendable {
  /// The proxy that runs the handlers, and forwards to the target.
  public var untyped: InterceptingProxy { forwarder }
}

extension Intercepting: Sendable where Proxy: Sendable {}
