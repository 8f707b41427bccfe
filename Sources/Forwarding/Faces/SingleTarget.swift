// SPDX-License-Identifier: Apache-2.0
/// An object of a protocol that forwards to one target, which may be replaced.
///
/// ```
/// let delegate = SingleTarget<ChatDelegateProxy>(screen)  // weak; nothing but a ChatDelegate compiles
/// session.delegate = delegate.face
/// delegate.setTarget(window)                              // the session need not know
/// ```
///
/// When the target is gone, a requirement returns its `@Otherwise` value, and a throwing one throws
/// ``ForwardingError/targetGone(_:)``. It wraps a ``SingleTargetProxy``.
///
/// ```swift
/// func place<Face: ForwardingFace>(for target: Face.__Target) -> SingleTarget<Face> {
///   let place = SingleTarget<Face>()
///   place.setTarget(target, strongly: true)
///   return place
/// }
/// ```
public final class SingleTarget<Face: ForwardingFace> {
  /// The proxy that forwards to the target.
  public let proxy: SingleTargetProxy
  /// The object of the protocol. It retains the proxy, so it may outlive this object.
  public let face: Face

  /// Creates one for a target, which is held weakly unless `strongly` is true.
  public convenience init(_ target: Face.__Target? = nil, strongly: Bool = false) {
    self.init(SingleTargetProxy(nil))
    if let target { setTarget(target, strongly: strongly) }
  }

  /// Creates one in front of a proxy.
  public init(_ proxy: SingleTargetProxy) {
    self.proxy = proxy
    face = Face(forwardingTo: proxy)
  }

  /// The target while it is alive, if it conforms to the protocol.
  public var target: Face.__Target? { proxy.target.flatMap { Face.__found($0) } }

  /// Replaces the target. Later messages go to the new one.
  public func setTarget(_ target: Face.__Target?, strongly: Bool = false) {
    guard let target else { return proxy.setTarget(nil) }
    let object = Face.__receiver(of: target)
    proxy.setTarget(
      object, strongly: strongly || Face.__isBox(object), Face.__witnesses(of: object))
  }
}

extension SingleTarget: Sendable where Face: Sendable {}
