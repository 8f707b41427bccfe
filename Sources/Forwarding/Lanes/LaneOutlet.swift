import Dispatch
package import Invocations

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
  /// The registration keeps this, and the proxy keeps the registration.
  let proxy: WeakReference<MulticastProxy>
  let registration: WeakReference<Registration>

  init(_ marked: MarkedQueue, _ proxy: MulticastProxy, _ registration: Registration) {
    queue = marked.queue
    mark = marked.mark
    self.proxy = WeakReference(proxy)
    self.registration = WeakReference(registration)
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
  /// Sends a message to a target on a queue, and waits: for a sender that is on no queue, and for whom none waits. So
  /// there is no circle but one through waits for deliveries of this proxy.
  private func deliverWaiting(
    _ call: Call, to registration: Registration, _ tally: inout TargetList.Tally
  ) -> Bool {
    guard BlockingChain.isFree, case .queue(let outlet) = registration.outlet,
      call.hasPlainMethod(in: registration.type)
    else { return false }
    var isPerformed = false
    do {
      try wait(for: registration, outlet) { isPerformed = try call.performWaited(on: registration) }
    } catch {
      tally.fail(error, at: registration)
      return true
    }
    if isPerformed { tally.answered += 1 }
    return isPerformed
  }

  package func wait(for registration: ListedTarget, _ body: () throws -> Void) throws {
    guard case .queue(let outlet) = registration.outlet else { return }
    if BlockingChain.isFree { return try wait(for: registration, outlet, body) }
    if outlet.mark.isCurrent {
      registration.meet()
      return try body()
    }
    guard let chain = BlockingChain.waiting(for: outlet.mark) else {
      throw ForwardingError.wouldDeadlock
    }
    try wait(for: registration, outlet) { try chain.run(body) }
  }

  private func wait(
    for registration: ListedTarget, _ outlet: QueueOutlet, _ body: () throws -> Void
  ) throws {
    registration.meet()
    var failure: (any Error)?
    let isFree: Void? = outlet.mark.outside(of: self) {
      // What throws goes through more closures.
      outlet.queue.sync { do { try body() } catch { failure = error } }
    }
    if isFree == nil { throw ForwardingError.wouldDeadlock }
    if let failure { throw failure }
  }

  package func queue(of registration: ListedTarget) -> RequirementQueue? {
    guard case .queue(let outlet) = registration.outlet else { return nil }
    registration.meet()
    return RequirementQueue(outlet.queue, outlet)
  }
}

extension QueueOutlet: RequirementRoute {
  package func arrive(_ selector: Selector, _ body: (ListedTarget) throws -> Void) {
    // Held to the end: who waits for the end of a registration waits for this.
    guard let registration = registration.object else { return }
    BlockingChain.runForNobody {
      do { try body(registration) } catch { registration.tell(error, of: selector) }
    }
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
    do { try call.send(to: self) } catch { tell(error, of: call.selector) }
  }

  /// Tells of an error that met a sender who has gone on.
  fileprivate func tell(_ error: any Error, of selector: Selector) {
    guard case .failed(let error) = DeliveryOutcome(error) else { return }
    let type: AnyClass = self.type
    let diagnostic = MulticastProxy.Diagnostic.failed(token, selector, error)
    if let proxy {
      proxy.diagnose(diagnostic, type)
    } else {
      MulticastProxy.report(diagnostic, type)
    }
  }
}
