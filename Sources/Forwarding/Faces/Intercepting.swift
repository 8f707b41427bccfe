/// One object of a protocol, and an object of the protocol on the way to which others look at messages.
///
/// ```
/// let watched = Intercepting<ChatDelegateProxy>(screen)
/// watched.proxy.before { call in log("\(call)") }
/// session.delegate = watched.face
/// ```
///
/// An ``InterceptingProxy`` is behind it, with the same rules.
///
/// ```swift
/// func logged<Face: ForwardingFace>(_ target: Face.__Target) -> Face {
///   let logged = Intercepting<Face>(target)
///   logged.proxy.before { call in print("\(call)") }
///   return logged.face
/// }
/// ```
public final class Intercepting<Face: ForwardingFace> {
  /// The proxy that runs the handlers, and sends on.
  public let proxy: InterceptingProxy
  /// The object of the protocol. It keeps the proxy, so it may outlive this.
  public let face: Face

  /// Makes one for a target, which it keeps alive unless told otherwise.
  public init(_ target: Face.__Target, strongly: Bool = true) {
    let object = Face.__receiver(of: target)
    proxy = InterceptingProxy(object, strongly: strongly || Face.__isBox(object))
    face = Face(forwardingTo: proxy)
  }

  /// The target, while it lives.
  public var target: Face.__Target? { proxy.target.flatMap { Face.__found($0) } }

  /// Removes a handler; false if it was gone.
  @discardableResult
  public func remove(_ token: InterceptingProxy.Token) -> Bool { proxy.remove(token) }
}

extension Intercepting: Sendable where Face: Sendable {}
