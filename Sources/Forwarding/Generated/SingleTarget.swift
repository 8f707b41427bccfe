// SPDX-License-Identifier: Apache-2.0
/// An object of a protocol that forwards to one target, which may be replaced.
///
/// <!-- macros -->
/// ```swift
/// let delegate = SingleTarget<ChatDelegateProxy>(window)  // weak
/// session.delegate = delegate.proxy
/// delegate.target = archive
/// ```
///
/// When the target is gone, a requirement returns its `@Otherwise` value, and a throwing one throws
/// ``ForwardingError/targetGone(_:)``. It is a ``Multicast`` of one: each `add` replaces the target.
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
