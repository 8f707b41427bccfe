// SPDX-License-Identifier: Apache-2.0
/// Objects of one protocol that answer questions, and an object of the protocol that asks them in
/// order.
///
/// <!-- macros -->
/// ```swift
/// let source = DataSource<ChatDelegateProxy>()
/// source.add(window)
/// source.fallback = archive
/// source.proxy.chat(chat, shouldSend: "")  // false
/// ```
///
/// If neither a target nor the fallback answers, a requirement returns its `@Otherwise` value or
/// nil, or throws.
public final class DataSource<Proxy>: Multicast<Proxy> {
  /// Creates one without targets.
  public init() where Proxy: GeneratedProxy {
    let untyped = MulticastProxy(asksOne: true)
    super.init(untyped, Proxy(forwardingTo: untyped))
  }

  @available(*, unavailable, message: "write 'DataSource<PProxy>', with '@Forwardable' on 'P'")
  public init(_: Void = ()) { fatalError() }
}

extension DataSource where Proxy: GeneratedProxy {
  /// The target that is asked after all others, whatever their priorities. It is held weakly.
  public var fallback: Proxy.__Target? {
    get { forwarder.fallback.flatMap { Proxy.__found($0) } }
    set { setFallback(newValue) }
  }

  /// Sets the target that is asked after all others. It is held weakly unless `strongly` is true.
  public func setFallback(_ target: Proxy.__Target?, strongly: Bool = false) {
    guard let target else { return forwarder.removeFallback() }
    var request = RegisteredTarget(target, of: Proxy.self).request(
      to: forwarder, strongly: strongly, on: .caller, priority: nil)
    request.isFallback = true
    forwarder.add(request)
  }
}

// SAFETY: the same holds as for `Multicast`.
extension DataSource: @unchecked Sendable where Proxy: Sendable {}
