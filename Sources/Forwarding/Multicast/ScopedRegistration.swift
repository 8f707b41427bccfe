// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A registration that ends with this object, unless something else holds it. It does not retain
/// the proxy.
///
/// ```swift
/// let registration = observers.scoped(screen)
/// observers.targets.count  // 1
/// registration.release()
/// observers.targets.count  // 0
/// ```
public final class ScopedRegistration: Sendable {
  private let proxy: ObjectReference
  private let isOver = Atomic(false)
  /// The token of the registration.
  public let token: MulticastProxy.Token

  init(proxy: MulticastProxy, token: MulticastProxy.Token) {
    self.proxy = ObjectReference(proxy, isStrong: false)
    self.token = token
  }

  /// Ends the registration now. Further calls do nothing.
  public func release() {
    guard !isOver.exchange(true, ordering: .acquiringAndReleasing) else { return }
    (proxy.object as? MulticastProxy)?.endScope(token)
  }

  deinit { release() }
}
