// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations
import Synchronization

/// A call on its way to a lane, with all that a call may need there: a once-only registration, a
/// sender that waits, a ticket, a limit of time, and a task.
///
/// A parcel that is deallocated without having run lost its queue: its ticket is resolved as
/// cancelled. Calls that need nothing of this are carried by ``CarriedCall`` and ``LaterCall`` alone.
final class Parcel: @unchecked Sendable {
  // SAFETY: the sender creates it, the receiver runs it once, and a waiting sender reads it only
  // after the ticket is resolved. The receiver alone uses its references to the registration and to
  // the stay, once.

  enum Content {
    /// A copy of a message that is not shared, and the method that the target performs instead of
    /// its own; nil in ordinary deliveries.
    case message(Invocation)
    /// A requirement that a proxy calls.
    case call(LaterCall)
  }

  /// The sender that waits for the outcome. If there is no such sender, the proxy reports errors.
  enum Waiting {
    case nobody
    /// A thread, with the queues that it blocks.
    case blocking(BlockingChain)
    /// A task, with its forwarding steps.
    case awaiting(AwaitedStep?)
  }

  private let content: Content
  let ticket = DeliveryTicket()
  /// The answer, after the ticket is resolved as answered. It is stored separately, because the
  /// target may retain the invocation and modify it.
  private(set) var answer: Invocation?

  /// What errors are about: read once, as the target may change the invocation on its thread.
  private let selector: Selector?
  private let token: ForwardingToken
  private let queue: MarkedQueue?
  /// Weak, so that calls that have not begun do not keep a registration from ending.
  private let registration: WeakReference<Registration>
  /// The registration, if it ended with this call: then only the parcel retains it.
  private var ended: Registration?
  private var end = CallEnd.never
  private let waiting: Waiting
  private let proxy: WeakReference<MulticastProxy>
  private let stage = Atomic(Stage.waiting.rawValue)
  /// Ends before the outcome is known, or when the parcel is dropped; nil if no sender counts it.
  private var stay: LaneStay?
  /// The state for cancelling the task that runs the call; nil for a call that does not suspend.
  private var suspension: Guarded<Suspension>?

  private enum Stage: UInt8 { case waiting, begun, cancelled }

  private struct Suspension {
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  init(
    _ content: Content, to registration: Registration, for proxy: MulticastProxy,
    _ waiting: Waiting
  ) {
    self.content = content
    switch content {
    case .message(let invocation):
      selector = invocation.selector
      stay = invocation.keeper.flatMap { $0 as? LaneStay }
    case .call(let call): selector = call.selector
    }
    stay?.begin()
    self.waiting = waiting
    self.proxy = WeakReference(proxy)
    token = proxy.token(of: registration)
    queue = registration.carrier.marked
    self.registration = WeakReference(registration)
  }

  deinit {
    stay?.end()
    if ticket.outcome == nil { ticket.resolve(.failed(ForwardingError.cancelled(context))) }
  }

  /// Sends the parcel to the lane, after the calls that were sent there before.
  ///
  /// - Parameters:
  ///   - end: when the registration ends because of the call.
  ///   - suspends: whether the method is `async`, or may be.
  func start(_ end: CallEnd, of registration: Registration, suspends: Bool) {
    self.end = end
    if case .before = end { ended = registration }
    if suspends { suspension = Guarded(Suspension()) }
    switch registration.carrier {
    case .none: perform()
    case .queue(let marked):
      if suspends {
        attach(
          Task(executorPreference: QueueExecutor(marked.queue)) { await self.performAwaiting() })
      } else {
        marked.queue.async { self.perform() }
      }
    case .order(let order): order.run(self, suspends: suspends)
    }
  }

  // MARK: Running

  /// Makes the call, unless its sender has cancelled it or missed its deadline.
  func perform() {
    guard begin() else { return }
    let chain = if case .blocking(let chain) = waiting { chain } else { BlockingChain.nobody }
    conclude(chain.run { outcome() })
  }

  /// Makes the call in a task, and awaits its end.
  nonisolated(nonsending) func performAwaiting() async {
    guard begin() else { return }
    let sender: AwaitedStep? = if case .awaiting(let step) = waiting { step } else { nil }
    conclude(await AwaitedStep.arrive(through: self, from: sender) { await outcomeAwaiting() })
  }

  private var isWaitedFor: Bool { if case .nobody = waiting { false } else { true } }

  private func conclude(_ outcome: DeliveryOutcome) {
    stay.take()?.end()
    let isToldOf = ticket.resolve(outcome) && isWaitedFor
    if !isToldOf, case .failed(let error) = outcome { report(error) }
  }

  /// Calls the target. When this returns, nothing here retains the target.
  private func outcome() -> DeliveryOutcome {
    guard let registration = takeRegistration() else { return .removed }
    // Retained to the end: ``MulticastProxy/removeAndWait(_:)-(Token)`` waits for its release.
    return withExtendedLifetime(registration) { settle(registration, outcome(of: registration)) }
  }

  /// A separate function, so that the target is released before the registration.
  @inline(never)
  private func outcome(of registration: Registration) -> DeliveryOutcome {
    guard let target = registration.object else { return .dead }
    do {
      switch content {
      case .message(let invocation):
        try invocation.send(to: target)
        keepAnswer(of: invocation)
      case .call(let call):
        guard try call.isAnswered(by: target, of: registration) else { return .noMethod }
      }
      return .answered
    } catch {
      if case .message(let invocation) = content {
        return DeliveryOutcome(error, of: invocation.call)
      }
      return DeliveryOutcome(error)
    }
  }

  /// Calls the target in a task; see ``outcome()``.
  private nonisolated(nonsending) func outcomeAwaiting() async -> DeliveryOutcome {
    guard let registration = takeRegistration(), setSuspended(registration, true) else {
      return .removed
    }
    let outcome = settle(registration, await outcomeAwaiting(of: registration))
    setSuspended(registration, false)
    return withExtendedLifetime(registration) { outcome }
  }

  /// Notes that a method, which may need any actor to end, has the registration, or has ended.
  /// Returns false if the registration was removed before.
  @discardableResult
  private func setSuspended(_ registration: Registration, _ isSuspended: Bool) -> Bool {
    // Without its proxy, no thread waits for the registration.
    guard let proxy = proxy.object else { return true }
    let isLast = if case .before = end { true } else { false }
    return proxy.registrations.withLockInPlace { _ in
      if isSuspended, registration.isRemoved, !isLast { return false }
      registration.suspended += isSuspended ? 1 : -1
      return true
    }
  }

  /// A separate function for the same reason as ``outcome(of:)``.
  @inline(never)
  private nonisolated(nonsending) func outcomeAwaiting(
    of registration: Registration
  ) async -> DeliveryOutcome {
    guard case .message(let invocation) = content else { return outcome(of: registration) }
    guard let target = registration.object else { return .dead }
    do {
      try await invocation.sendAwaiting(to: target)
      keepAnswer(of: invocation)
      return .answered
    } catch {
      return DeliveryOutcome(error, of: invocation.call)
    }
  }

  private func takeRegistration() -> Registration? {
    if let ended = ended.take() { return ended }
    guard let registration = registration.object, !registration.isRemoved else { return nil }
    if case .atArrival = end, !registration.claim() { return nil }
    return registration
  }

  /// Ends a once-only registration that the parcel has claimed, if the target has answered.
  private func settle(
    _ registration: Registration, _ outcome: DeliveryOutcome
  ) -> DeliveryOutcome {
    if case .atArrival = end { proxy.object?.settle(registration, outcome) }
    return outcome
  }

  private func keepAnswer(of invocation: Invocation) {
    if isWaitedFor { answer = invocation.unsharedAnswer() }
  }

  private func report(_ error: any Error) {
    guard let selector else { return }
    if let proxy = proxy.object {
      proxy.diagnose(.failed(token, selector, error))
    } else {
      EventReports.report(.failed(selector, token.type.type, error))
    }
  }

  private var context: ForwardingError.Context {
    ForwardingError.Context(selector: selector, target: token.type.type, queue: queue?.label)
  }

  // MARK: Cancelling

  private func begin() -> Bool {
    ticket.outcome == nil && advance(to: .begun)
  }

  /// Moves the parcel out of its waiting stage, to begun or cancelled; false if it has left that stage
  /// before.
  private func advance(to next: Stage) -> Bool {
    stage.compareExchange(
      expected: Stage.waiting.rawValue, desired: next.rawValue, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Sets the task to be cancelled with the parcel.
  func attach(_ task: Task<Void, Never>) {
    let isCancelled = suspension?.withLock { suspension in
      suspension.task = task
      return suspension.isCancelled
    }
    if isCancelled ?? false { task.cancel() }
  }

  /// Cancels the call for a waiting sender. If it has begun, its method decides when it ends.
  private func cancel() {
    let task = suspension?.withLock { suspension in
      suspension.isCancelled = true
      return suspension.task
    }
    if advance(to: .cancelled) { ticket.resolve(.failed(CancellationError())) }
    task?.cancel()
  }

  // MARK: Waiting

  /// Waits for the outcome; at the deadline it is that. The ticket holds the first one.
  func outcome(within deadline: DispatchTimeInterval) -> DeliveryOutcome {
    ticket.wait(timeout: .now() + deadline)
      ?? ticket.settle(.failed(ForwardingError.timedOut(context)))
  }

  /// Awaits the outcome. Cancels the call at the deadline. If `endsWithTask` is true, the
  /// cancellation of the awaiting task cancels it too.
  nonisolated(nonsending) func outcome(
    within deadline: DispatchTimeInterval?, endsWithTask: Bool
  ) async -> DeliveryOutcome {
    let number = deadline.map { deadline in
      Deadlines.shared.add(in: deadline) { [weak self] in
        guard let self, ticket.resolve(.failed(ForwardingError.timedOut(context))) else { return }
        cancel()
      }
    }
    defer { if let number { Deadlines.shared.cancel(number) } }
    if !endsWithTask { return await ticket.value() }
    return await withTaskCancellationHandler {
      await ticket.value()
    } onCancel: {
      self.cancel()
    }
  }
}
