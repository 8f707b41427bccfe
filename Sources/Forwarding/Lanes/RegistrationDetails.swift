// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

/// State that most registrations do not need. It is guarded by the lock of the proxy's
/// `Registrations`, except for what never changes.
final class RegistrationDetails: @unchecked Sendable {
  // SAFETY: see above.
  var wishes: Registration.Wishes
  let carrier: Carrier
  /// Weak: the proxy retains the registration. Nil if there is no lane.
  private let proxy: WeakReference<MulticastProxy>?
  /// A group that is left when the registration is deallocated.
  var end: DispatchGroup?
  /// The number of methods that may be suspended on the lane.
  var suspended = 0

  init(
    _ wishes: Registration.Wishes, _ carrier: Carrier,
    _ proxy: consuming WeakReference<MulticastProxy>?
  ) {
    self.wishes = wishes
    self.carrier = carrier
    self.proxy = proxy
  }

  /// A registration releases its target before its notes.
  deinit { end?.leave() }

  var owner: MulticastProxy? {
    switch proxy {
    case .some(let proxy): proxy.object
    case .none: nil
    }
  }

  /// Runs `body`, which calls the target: on the queue while this thread waits, or here without one.
  /// Returns false, without having run it, if the wait would never end.
  func run(_ body: () -> Void) -> Bool {
    let isFree = BlockingChain.isFree
    guard let marked = carrier.marked, isFree || !marked.mark.isCurrent else {
      body()
      return true
    }
    guard let chain = isFree ? .nobody : BlockingChain.waiting(for: marked.mark) else {
      return false
    }
    // The queue may use another thread.
    marked.system.sync { chain.run(body) }
    return true
  }
}
