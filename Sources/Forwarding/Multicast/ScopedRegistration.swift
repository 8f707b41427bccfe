import Synchronization

/// A registration that ends with this object, unless somebody else keeps it.
public final class ScopedRegistration: Sendable {
  private let proxy: MulticastProxy
  private let isOver = Atomic(false)
  /// The registration.
  public let token: MulticastProxy.Token

  init(proxy: MulticastProxy, token: MulticastProxy.Token) {
    self.proxy = proxy
    self.token = token
  }

  /// Ends it now; a second time does nothing.
  public func release() {
    guard !isOver.exchange(true, ordering: .acquiringAndReleasing) else { return }
    proxy.endScope(token)
  }

  deinit { release() }
}
