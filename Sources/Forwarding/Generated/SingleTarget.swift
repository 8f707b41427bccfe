// SPDX-License-Identifier: Apache-2.0
/// An object of a protocol that forwards to one target, which may be replaced.
///
/// ```
/// let delegate = SingleTarget<ChatDelegateProxy>(screen)  // weak; nothing but a ChatDelegate compiles
/// session.delegate = delegate.proxy
/// delegate.target = window                                // the session need not know
/// ```
///
/// When the target is gone, a requirement returns its `@Otherwise` value, and a throwing one throws
/// ``ForwardingError/targetGone(_:)``. It is a ``Multicast`` of one: each `add` replaces the target.
///
/// ```swift
/// func place<Proxy: GeneratedProxy>(for target: Proxy.__Target) -> SingleTarget<Proxy> {
///   let place = SingleTarget<Proxy>()
///   place.setTarget(target, strongly: true)
///   return place
/// }
/// ```
public final class SingleTarget<Proxy>: Multicast<Proxy> {
  /// Creates one for a target, which is held weakly unless `strongly` is true.
  public init(
    _ target: Proxy.__Target? = nil, strongly: Bool = false
  ) where Proxy: GeneratedProxy {
    let untyped = MulticastProxy(one: nil)
    super.init(untyped, Proxy(forwardingTo: untyped))
    if let target { add(target, strongly: strongly) }
  }

  @available(*, unavailable, message: "write 'SingleTarget<PProxy>', with '@Forwardable' on 'P'")
  public init(_ target: Proxy? = nil, strongly: Bool = false) { fatalError() }
}

extension SingleTarget where Proxy: GeneratedProxy {
  /// The target, while it is alive. It is held weakly. Messages that begin later go to a new one.
  public var target: Proxy.__Target? {
    get { targets.first }
    set { setTarget(newValue) }
  }

  /// Replaces the target. It is held weakly unless `strongly` is true.
  public func setTarget(_ target: Proxy.__Target?, strongly: Bool = false) {
    if let target { add(target, strongly: strongly) } else { removeAll() }
  }
}

// SAFETY: the same holds as for `Multicast`.
extension SingleTarget: @unchecked Sendable where Proxy: Sendable {}
