// SPDX-License-Identifier: Apache-2.0
import Dispatch
package import Invocations

/// The destination of a registration's messages. It stays the same while the registration exists.
/// An actor or executor always comes with the order of its messages.
enum LaneOutlet {
  /// The caller's thread.
  case none
  case queue(QueueOutlet)
  case actor(any Actor, LaneOrder)
  case executor(any TaskExecutor, LaneOrder)
}

/// The queue of a registration, which deliveries read without a lock.
final class QueueOutlet: Sendable {
  let queue: DispatchQueue
  let mark: QueueMark
  package let system: SystemQueue
  /// Weak references: the registration retains this object, and the proxy retains the registration.
  let proxy: WeakReference<MulticastProxy>
  let registration: WeakReference<Registration>

  init(_ marked: MarkedQueue, _ proxy: MulticastProxy, _ registration: Registration) {
    queue = marked.queue
    mark = marked.mark
    system = SystemQueue(marked.queue)
    self.proxy = WeakReference(proxy)
    self.registration = WeakReference(registration)
  }
}

// The fast path for messages without a report, to targets whose only option is a queue. All other
// messages are sent by `Delivery`.
extension MulticastProxy {
  /// Sends a message to a target on a queue if the fast path applies; false, without having done
  /// anything, if it does not.
  func deliverQuickly(
    _ call: Call, to registration: Registration, _ tally: inout TargetList.Tally
  ) -> Bool {
    switch registration.way {
    case .called, .special: return false
    case .awaited: return deliverWaiting(call, to: registration, &tally)
    case .queued:
      guard case .queue(let outlet) = registration.outlet, registration.isAlive,
        let carried = call.carried(to: registration.type, by: registration)
      else { return false }
      registration.markReached()
      carried.travel(on: outlet.queue)
      tally.hasQueued = true
      return true
    }
  }
}

extension MulticastProxy {
  /// Sends a message to a target on a queue, and waits. It applies if the sender is on no queue and
  /// no thread waits for the sender, so that a deadlock is only possible through waits for
  /// deliveries of this proxy.
  private func deliverWaiting(
    _ call: Call, to registration: Registration, _ tally: inout TargetList.Tally
  ) -> Bool {
    guard BlockingChain.isFree, case .queue(let outlet) = registration.outlet,
      call.hasPlainMethod(in: registration.type)
    else { return false }
    var isPerformed = false
    var failure: (any Error)?
    let refusal = outlet.waitFreely(for: registration) {
      do { isPerformed = try call.performWaited(on: registration) } catch { failure = error }
    }
    if let failure = failure ?? refusal {
      tally.fail(failure, at: registration)
      return true
    }
    if isPerformed { tally.answered += 1 }
    return isPerformed
  }
}

extension QueueOutlet: TargetQueue {
  package func wait(for registration: ListedTarget, _ body: () -> Void) -> (any Error)? {
    if BlockingChain.isFree { return waitFreely(for: registration, body) }
    if mark.isCurrent {
      registration.markReached()
      body()
      return nil
    }
    guard let chain = BlockingChain.waiting(for: mark) else { return ForwardingError.wouldDeadlock }
    return waitFreely(for: registration) { chain.run(body) }
  }

  /// Waits where the chain of waiting senders allows it.
  fileprivate func waitFreely(for registration: ListedTarget, _ body: () -> Void) -> (any Error)? {
    registration.markReached()
    let isFree: Void? = mark.outside(of: proxy.identity) { system.sync(body) }
    return isFree == nil ? ForwardingError.wouldDeadlock : nil
  }

  package func arrive(_ body: () -> Void) { BlockingChain.runForNobody(body) }

  package func report(_ error: any Error, of selector: Selector, by registration: ListedTarget) {
    registration.tell(error, of: selector)
  }
}

// A message on its way retains neither the registration nor the proxy: they end as if no message
// were queued.
extension Registration: CallRoute {
  private var proxy: MulticastProxy? {
    if case .queue(let outlet) = outlet { outlet.proxy.object } else { nil }
  }

  package var step: AnyObject? { proxy?.targetList }

  package func arrive(_ call: CarriedCall) { BlockingChain.runForNobody { send(call) } }

  private func send(_ call: CarriedCall) {
    guard !isRemoved else { return }
    do { try call.send(to: self) } catch { tell(error, of: call.selector) }
  }

  /// Reports an error whose sender has not waited.
  fileprivate func tell(_ error: any Error, of selector: Selector) {
    guard case .failed(let error) = DeliveryOutcome(error) else { return }
    let type = targetType
    let diagnostic = MulticastProxy.Diagnostic.failed(token, selector, error)
    if let proxy {
      proxy.diagnose(diagnostic, type)
    } else {
      MulticastProxy.report(diagnostic, type)
    }
  }
}
