// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A message on its way to another thread: a copy that is not shared.
///
/// A job that is deallocated without having run lost its queue: its ticket is resolved as
/// cancelled.
final class DeliveryJob: @unchecked Sendable {
  // SAFETY: the sender creates it, the receiver runs it once, and a waiting sender reads it only
  // after the ticket is resolved. The receiver alone uses its references to the registration and to
  // the stay, once.

  /// The sender that waits for the outcome. If there is no such sender, the proxy reports errors.
  enum Waiting {
    case nobody
    /// A thread, with the queues that it blocks.
    case blocking(BlockingChain)
    /// A task, with its forwarding steps.
    case awaiting(AwaitedStep?)
  }

  let invocation: Invocation
  let ticket = DeliveryTicket()
  /// The answer, after the ticket is resolved as answered. It is stored separately, because the
  /// target may retain the invocation and modify it.
  private(set) var answer: Invocation?

  private let token: MulticastProxy.Token
  private let type: Any.Type
  /// Weak, so that messages that have not begun do not keep a registration from ending.
  private let registration: WeakReference<Registration>
  /// The registration, if it ended with this message: then only the job retains it.
  private var ended: Registration?
  /// Whether the registration ended with this message.
  private let isLast: Bool
  /// Whether the job claims a once-only registration when it runs.
  private let claims: Bool
  private let waiting: Waiting
  private let proxy: ObjectReference
  private let stage = Atomic(Stage.waiting.rawValue)
  /// Ends before the outcome is known, or when the job is dropped; nil if no sender counts it.
  private var stay: LaneStay?
  /// The state for cancelling the task that runs the job; nil for a job that does not suspend.
  private var suspension: Guarded<Suspension>?

  private enum Stage: UInt8 { case waiting, begun, cancelled }

  private struct Suspension {
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  init(
    _ invocation: Invocation, _ registration: Registration, _ end: Delivery.End,
    for proxy: MulticastProxy, _ waiting: Waiting, _ stay: LaneStay?
  ) {
    self.invocation = invocation
    self.stay = stay
    stay?.begin()
    self.waiting = waiting
    self.proxy = ObjectReference(proxy, isStrong: false)
    token = registration.token
    type = registration.targetType
    self.registration = WeakReference(registration)
    isLast = if case .before = end { true } else { false }
    ended = isLast ? registration : nil
    claims = if case .atArrival = end { true } else { false }
  }

  deinit {
    stay?.end()
    ticket.resolve(.cancelled)
  }

  // MARK: Running

  /// Runs the job, unless its sender has cancelled it or missed its deadline.
  func perform() {
    guard begin() else { return }
    conclude(chain.run { outcome() })
  }

  /// Runs the job in a task, and awaits its end.
  nonisolated(nonsending) func performAwaiting() async {
    guard begin() else { return }
    let sender: AwaitedStep? = if case .awaiting(let step) = waiting { step } else { nil }
    conclude(await AwaitedStep.arrive(through: self, from: sender) { await outcomeAwaiting() })
  }

  private var chain: BlockingChain {
    if case .blocking(let chain) = waiting { chain } else { .nobody }
  }

  private var isWaitedFor: Bool { if case .nobody = waiting { false } else { true } }

  private func conclude(_ outcome: DeliveryOutcome) {
    stay.take()?.end()
    let isToldOf = ticket.resolve(outcome) && isWaitedFor
    if !isToldOf, case .failed(let error) = outcome { report(error) }
  }

  /// Sends the message. When this returns, nothing here retains the target.
  private func outcome() -> DeliveryOutcome {
    guard let registration = takeRegistration() else { return .removed }
    // Retained to the end: ``MulticastProxy/removeAndWait(_:)-(Token)`` waits for its release.
    return withExtendedLifetime(registration) {
      settle(registration, outcome(of: registration))
    }
  }

  /// A separate function, so that the target is released before the registration.
  @inline(never)
  private func outcome(of registration: Registration) -> DeliveryOutcome {
    guard let target = registration.object else { return .dead }
    do {
      try invocation.send(to: target)
      keepAnswer()
      return .answered
    } catch {
      return DeliveryOutcome(error)
    }
  }

  /// Sends the message in a task; see ``outcome()``.
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
    guard let proxy = proxy.object as? MulticastProxy else { return true }
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
    guard let target = registration.object else { return .dead }
    do {
      try await invocation.sendAwaiting(to: target)
      keepAnswer()
      return .answered
    } catch {
      return DeliveryOutcome(error)
    }
  }

  private func takeRegistration() -> Registration? {
    if let ended = ended.take() { return ended }
    guard let registration = registration.object, !registration.isRemoved,
      !claims || registration.claim()
    else { return nil }
    return registration
  }

  /// Ends a once-only registration that the job has claimed, if the target has answered.
  private func settle(
    _ registration: Registration, _ outcome: DeliveryOutcome
  ) -> DeliveryOutcome {
    if claims { (proxy.object as? MulticastProxy)?.settle(registration, outcome) }
    return outcome
  }

  private func keepAnswer() {
    guard isWaitedFor else { return }
    answer = invocation.unsharedAnswer()
  }

  private func report(_ error: any Error) {
    guard let selector = invocation.selector else { return }
    let diagnostic = MulticastProxy.Diagnostic.failed(token, selector, error)
    if let proxy = proxy.object as? MulticastProxy {
      proxy.diagnose(diagnostic, type)
    } else {
      MulticastProxy.report(diagnostic, type)
    }
  }

  // MARK: Cancelling

  private func begin() -> Bool {
    ticket.outcome == nil && advance(to: .begun)
  }

  /// Moves the job out of its waiting stage, to begun or cancelled; false if it has left that stage
  /// before.
  private func advance(to next: Stage) -> Bool {
    stage.compareExchange(
      expected: Stage.waiting.rawValue, desired: next.rawValue, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Prepares the job to be run and cancelled as a task. Must be called before the job starts.
  func prepareToSuspend() { suspension = Guarded(Suspension()) }

  /// Sets the task to be cancelled with the job.
  func attach(_ task: Task<Void, Never>) {
    let isCancelled = suspension?.withLock { suspension in
      suspension.task = task
      return suspension.isCancelled
    }
    if isCancelled ?? false { task.cancel() }
  }

  /// Cancels the job for a waiting sender. If the job has begun, its method decides when it ends.
  func cancel() {
    let task = suspension?.withLock { suspension in
      suspension.isCancelled = true
      return suspension.task
    }
    if advance(to: .cancelled) { ticket.resolve(.failed(CancellationError())) }
    task?.cancel()
  }
}
