/// One object of a protocol, which may change, and an object of the protocol that stands for it.
///
/// ```
/// let delegate = SingleTarget<ChatDelegateProxy>(screen)  // weak; nothing but a ChatDelegate compiles
/// session.delegate = delegate.face
/// delegate.setTarget(window)                              // the session need not know
/// ```
///
/// Where the target is gone, a requirement gets what it says for when nobody answers; one that throws gets
/// ``ForwardingError/targetGone(_:)``. A ``SingleTargetProxy`` is behind it.
///
/// ```swift
/// func place<Face: ForwardingFace>(for target: Face.__Target) -> SingleTarget<Face> {
///   let place = SingleTarget<Face>()
///   place.setTarget(target, strongly: true)
///   return place
/// }
/// ```
public final class SingleTarget<Face: ForwardingFace> {
  /// The proxy that sends on.
  public let proxy: SingleTargetProxy
  /// The object of the protocol. It keeps the proxy, so it may outlive this.
  public let face: Face

  /// Makes one that stands for a target, which it holds weakly unless told otherwise.
  public convenience init(_ target: Face.__Target? = nil, strongly: Bool = false) {
    self.init(SingleTargetProxy(nil))
    if let target { setTarget(target, strongly: strongly) }
  }

  /// Makes one in front of a proxy.
  public init(_ proxy: SingleTargetProxy) {
    self.proxy = proxy
    face = Face(forwardingTo: proxy)
  }

  /// The target, while it lives, if it conforms to the protocol.
  public var target: Face.__Target? { proxy.target.flatMap { Face.__found($0) } }

  /// Stands for another target from now on.
  public func setTarget(_ target: Face.__Target?, strongly: Bool = false) {
    guard let target else { return proxy.setTarget(nil) }
    let object = Face.__receiver(of: target)
    proxy.setTarget(
      object, strongly: strongly || Face.__isBox(object), Face.__witnesses(of: object))
  }
}

extension SingleTarget: Sendable where Face: Sendable {}
