import Synchronization

/// A message on its way to another thread: a copy that nobody else touches.
///
/// If it is dropped without having run, its queue went away, and the ticket says so.
final class DeliveryJob: @unchecked Sendable {
  // SAFETY: made by the sender, run once by the receiver, and read by a waiting sender only after
  // the ticket was resolved. What it has of the registration is used once, by the receiver.

  /// Who waits for the outcome. Where nobody does, the proxy reports an error.
  enum Waiting {
    case nobody
    /// A thread, and those who wait for it.
    case blocking(BlockingChain)
    /// A task, which has taken these steps.
    case awaiting(AwaitedStep?)
  }

  let invocation: Invocation
  let ticket = DeliveryTicket()
  /// The answer, once the ticket says so. Kept apart, as the target may keep the invocation and
  /// change it.
  private(set) var answer: Invocation?

  private let token: MulticastProxy.Token
  private let type: AnyClass
  /// Weak, so that messages that have not begun do not keep a registration from ending.
  private let registration: WeakReference<Registration>
  /// One that has ended with this message, which so keeps it alone.
  private var ended: Registration?
  private let waiting: Waiting
  private let proxy: ObjectReference
  /// What the target performs, in place of a method of its own.
  private let visit: Implementation?
  private let stage = Atomic(Stage.waiting.rawValue)
  /// What a task that runs this is cancelled by; nil for one that does not suspend.
  private var suspension: Guarded<Suspension>?

  private enum Stage: UInt8 { case waiting, begun, cancelled }

  private struct Suspension {
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  init(
    _ invocation: Invocation, _ registration: Registration, isLast: Bool = false,
    _ visit: Implementation?, for proxy: MulticastProxy, _ waiting: Waiting
  ) {
    self.invocation = invocation
    self.waiting = waiting
    self.visit = visit
    self.proxy = ObjectReference(proxy, isStrong: false)
    token = registration.token
    type = registration.type
    self.registration = WeakReference(registration)
    ended = isLast ? registration : nil
  }

  deinit { ticket.resolve(.cancelled) }

  // MARK: Running

  /// Runs, unless somebody who waited has given up.
  func perform() {
    guard begin() else { return }
    conclude(
      chain.run {
        outcome { target in
          if let visit {
            try invocation.perform(visit, on: target)
          } else {
            try invocation.send(to: target)
          }
        }
      })
  }

  /// Runs where a task is, and awaits the end.
  nonisolated(nonsending) func performAwaiting() async {
    guard begin() else { return }
    var steps: AwaitedStep?
    if case .awaiting(let known) = waiting { steps = known }
    // The task that works a lane off has the steps of whoever started it.
    let outcome = await AwaitedStep.with(steps) { await outcomeAwaiting() }
    conclude(outcome)
  }

  private var chain: BlockingChain {
    if case .blocking(let chain) = waiting { chain } else { .nobody }
  }

  private var isWaitedFor: Bool { if case .nobody = waiting { false } else { true } }

  private func conclude(_ outcome: DeliveryOutcome) {
    let isToldOf = ticket.resolve(outcome) && isWaitedFor
    if !isToldOf, case .failed(let error) = outcome { report(error) }
  }

  /// Sends the message. When this returns, nobody here holds the target any more.
  private func outcome(_ send: (AnyObject) throws -> Void) -> DeliveryOutcome {
    guard let registration = takeRegistration() else { return .removed }
    // Held to the end: a removal that waits waits for this.
    return withExtendedLifetime(registration) { outcome(of: registration, send) }
  }

  /// A function of its own, so that the target is let go before the registration is.
  @inline(never)
  private func outcome(
    of registration: Registration, _ send: (AnyObject) throws -> Void
  ) -> DeliveryOutcome {
    guard let target = registration.object else { return .dead }
    do {
      try send(target)
      keepAnswer()
      return .answered
    } catch {
      return DeliveryOutcome(error)
    }
  }

  /// As ``outcome(_:)``, for a task.
  private nonisolated(nonsending) func outcomeAwaiting() async -> DeliveryOutcome {
    guard let registration = takeRegistration() else { return .removed }
    let outcome = await outcomeAwaiting(of: registration)
    return withExtendedLifetime(registration) { outcome }
  }

  /// A function of its own, as ``outcome(of:_:)`` is.
  @inline(never)
  private nonisolated(nonsending) func outcomeAwaiting(
    of registration: Registration
  ) async -> DeliveryOutcome {
    guard let target = registration.object else { return .dead }
    do {
      if let visit {
        try await invocation.performAwaiting(visit, on: target)
      } else {
        try await invocation.sendAwaiting(to: target)
      }
      keepAnswer()
      return .answered
    } catch {
      return DeliveryOutcome(error)
    }
  }

  private func takeRegistration() -> Registration? {
    ended.take() ?? registration.object.flatMap { $0.isRemoved ? nil : $0 }
  }

  private func keepAnswer() {
    guard isWaitedFor else { return }
    answer = invocation.isKnownToNobodyElse ? invocation : invocation.answerAlone()
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

  /// Begins, or never will; false if the other came first.
  private func advance(to next: Stage) -> Bool {
    stage.compareExchange(
      expected: Stage.waiting.rawValue, desired: next.rawValue, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Lets it be run by a task; before it is started.
  func prepareToSuspend() { suspension = Guarded(Suspension()) }

  /// Lets the task that runs this be cancelled.
  func attach(_ task: Task<Void, Never>) {
    let isCancelled = suspension?.withLock { suspension in
      suspension.task = task
      return suspension.isCancelled
    }
    if isCancelled ?? false { task.cancel() }
  }

  /// Cancels it for who waits: if it has begun, its method decides when it ends.
  func cancel() {
    let task = suspension?.withLock { suspension in
      suspension.isCancelled = true
      return suspension.task
    }
    if advance(to: .cancelled) { ticket.resolve(.failed(CancellationError())) }
    task?.cancel()
  }
}
