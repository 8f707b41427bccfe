import Dispatch

/// Where the messages of a registration go. It stays the same while the registration lives, and there is no actor or
/// executor without the order of its messages.
enum LaneOutlet {
  /// The caller's thread.
  case none
  case queue(QueueOutlet)
  case actor(any Actor, LaneOrder)
  case executor(any TaskExecutor, LaneOrder)
}

/// A queue that gets messages of a registration, read without a lock.
final class QueueOutlet: Sendable {
  let queue: DispatchQueue
  let mark: QueueMark
  /// The registrations keep this, and the proxy keeps them.
  let proxy: WeakReference<MulticastProxy>

  init(_ marked: MarkedQueue, _ proxy: MulticastProxy) {
    queue = marked.queue
    mark = marked.mark
    self.proxy = WeakReference(proxy)
  }
}

// Messages that nobody asks a report of, to targets of which nothing is wished but a queue. All others go the
// way of `Delivery`.
extension MulticastProxy {
  /// Sends a message to a target on a queue where that takes no more than to carry it there; false if it takes
  /// more, and then nothing was done.
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
      registration.meet()
      carried.travel(on: outlet.queue)
      tally.hasQueued = true
      return true
    }
  }
}

extension MulticastProxy {
  /// Sends a message to a target on a queue, and waits. For a sender that is on no queue and for whom none
  /// waits: so there is no circle but one through waits for deliveries of this proxy.
  private func deliverWaiting(
    _ call: Call, to registration: Registration, _ tally: inout TargetList.Tally
  ) -> Bool {
    guard case .queue(let outlet) = registration.outlet, BlockingChain.isFree,
      call.hasPlainMethod(in: registration.type)
    else { return false }
    var isPerformed = false
    var failure: (any Error)?
    let isFree: Void? = outlet.mark.outside(of: self) {
      outlet.queue.sync {
        do {
          isPerformed = try call.performWaited(on: registration)
        } catch {
          (isPerformed, failure) = (true, error)
        }
      }
    }
    if isFree == nil { (isPerformed, failure) = (true, ForwardingError.wouldDeadlock) }
    guard isPerformed else { return false }
    registration.meet()
    if let failure { tally.fail(failure, at: registration) } else { tally.answered += 1 }
    return true
  }
}

// A message on its way keeps neither the registration nor the proxy: both end as if none were waiting.
extension Registration: CallRoute {
  private var proxy: MulticastProxy? {
    if case .queue(let outlet) = outlet { outlet.proxy.object } else { nil }
  }

  package var step: AnyObject? { proxy?.targetList }

  package func arrive(_ call: CarriedCall) { BlockingChain.runForNobody { send(call) } }

  private func send(_ call: CarriedCall) {
    guard !isRemoved else { return }
    do { try call.send(to: self) } catch { tell(error, of: call) }
  }

  private func tell(_ error: any Error, of call: CarriedCall) {
    guard case .failed(let error) = DeliveryOutcome(error) else { return }
    let type: AnyClass = self.type
    let diagnostic = MulticastProxy.Diagnostic.failed(token, call.selector, error)
    if let proxy {
      proxy.diagnose(diagnostic, type)
    } else {
      MulticastProxy.report(diagnostic, type)
    }
  }
}
