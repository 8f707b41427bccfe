import Synchronization

/// One registration with a multicast proxy. Everything that changes is atomic: deliveries on other
/// threads hold snapshots of these.
final class MulticastMember: Sendable {
  let token: MulticastProxy.Token
  /// The target, as deliveries see it.
  let listed: ListedTarget
  let lane: DeliveryLane
  let priority: Int
  let group: String?
  let isOnce: Bool

  private let taken = Atomic(false)
  /// The last message on its way to an actor; the next one waits for it.
  private let tail = Guarded<Task<Void, Never>?>(nil)

  init(
    token: MulticastProxy.Token, reference: ObjectReference, lane: DeliveryLane, priority: Int,
    group: String?, isOnce: Bool
  ) {
    self.token = token
    self.lane = lane
    self.priority = priority
    self.group = group
    self.isOnce = isOnce
    var isSpecial = isOnce
    if case .caller = lane.kind {} else { isSpecial = true }
    listed = ListedTarget(reference, isSpecial: isSpecial)
  }

  var reference: ObjectReference { listed.reference }

  /// Whether this delivery may have the member: for a once-only one, the first alone.
  func take() -> Bool {
    !isOnce || !taken.exchange(true, ordering: .acquiringAndReleasing)
  }

  /// What makes two registrations the same: the target, and its queue or actor.
  struct Key: Hashable {
    let target: ObjectIdentifier
    let lane: ObjectIdentifier?
  }

  var key: Key { Key(target: reference.identity, lane: lane.identity) }

  /// Runs a job on an actor, after the jobs that were given to it before.
  func run(_ job: DeliveryJob, on actor: any Actor) {
    inOrder { previous in
      Task {
        await previous?.value
        await actor.perform(job)
      }
    }
  }

  /// Runs a job on an executor, after the jobs that were given to it before.
  func run(_ job: DeliveryJob, on executor: any TaskExecutor) {
    inOrder { previous in
      Task(executorPreference: executor) {
        await previous?.value
        job.run()
      }
    }
  }

  private func inOrder(_ start: (Task<Void, Never>?) -> Task<Void, Never>) {
    tail.withLock { $0 = start($0) }
  }
}

extension Actor {
  fileprivate func perform(_ job: DeliveryJob) { job.run() }
}

/// A message on its way to another thread: a copy that nobody else touches.
///
/// If it is dropped without having run, its queue went away, and the ticket says so.
final class DeliveryJob: @unchecked Sendable {
  // SAFETY: made by the sender, run once by the receiver, and read by a waiting sender only after
  // the ticket was resolved.
  let invocation: Invocation
  let member: MulticastMember
  let ticket = DeliveryTicket()
  private let abandoned = Atomic(false)

  init(_ invocation: Invocation, _ member: MulticastMember) {
    self.invocation = invocation
    self.member = member
  }

  deinit { ticket.resolve(.cancelled) }

  /// Gives up waiting: if the job has not begun, it never will.
  func abandon() { abandoned.store(true, ordering: .releasing) }

  func run() {
    if abandoned.load(ordering: .acquiring) { return }
    ticket.resolve(outcome())
  }

  /// Sends, and holds the target no longer than that: whoever reads the outcome may rely on it.
  private func outcome() -> DeliveryOutcome {
    // A once-only registration ended when its message was queued.
    if member.listed.isRemoved, !member.isOnce { return .removed }
    guard let target = member.reference.object else { return .dead }
    do {
      try invocation.send(to: target)
      return .answered
    } catch {
      return .failed(error)
    }
  }
}
