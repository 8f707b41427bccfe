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

  private var owner: MulticastProxy? {
    switch proxy {
    case .some(let proxy): proxy.object
    case .none: nil
    }
  }
}

extension RegistrationDetails: TargetLane {
  package var queue: SystemQueue? { carrier.marked?.system }

  package var step: AnyObject? { owner?.targetList }

  package func wait(
    for member: ListedTarget, _ selector: Selector, _ body: () -> Void
  ) -> (any Error)? {
    run(body) ? nil : ForwardingError.wouldDeadlock(.init(selector, to: member))
  }

  /// Runs `body` on the queue, and waits. Returns false, without having run it, if the wait would
  /// never end.
  func run(_ body: () -> Void) -> Bool {
    guard let marked = carrier.marked else { return true }
    // Marked as arrived, because the queue may use another thread.
    func arrived() { Arrivals.with(body) }
    if BlockingChain.isFree {
      marked.system.sync(arrived)
    } else if marked.mark.isCurrent {
      body()
    } else {
      guard let chain = BlockingChain.waiting(for: marked.mark) else { return false }
      marked.system.sync { chain.run(arrived) }
    }
    return true
  }

  package func arrive(_ body: () -> Void) { BlockingChain.runForNobody(body) }

  package func report(_ error: any Error, of selector: Selector, by member: ListedTarget) {
    guard case .failed(let error) = DeliveryOutcome(error) else { return }
    if let owner {
      owner.diagnose(.failed(owner.token(of: member), selector, error))
    } else {
      EventReports.report(.failed(selector, member.targetType, error))
    }
  }
}
