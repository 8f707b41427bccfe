import Dispatch
import Synchronization

/// One registration with a multicast proxy, with the wishes of those who made it. Everything that
/// changes is atomic: deliveries on other threads hold snapshots of these. New wishes make a new
/// member for the same registration.
final class MulticastMember: Sendable {
  /// How a target wants its messages.
  struct Wishes: Sendable {
    var isStrong: Bool
    var lane: DeliveryLane
    var priority: Int
    var group: String?
    var isOnce: Bool
  }

  let token: MulticastProxy.Token
  let wishes: Wishes
  /// The target, as deliveries see it.
  let listed: ListedTarget
  let life: RegistrationLife
  /// The mark of the queue, for a lane that waits.
  let mark: QueueMark?
  /// The order of messages, for a lane that keeps its own.
  let order: LaneOrder?
  /// Earlier members of this registration, which deliveries that are under way may see instead.
  private let earlier: [Weak]

  private struct Weak { weak let member: MulticastMember? }

  init(
    _ token: MulticastProxy.Token, _ reference: ObjectReference, _ wishes: Wishes,
    order: LaneOrder? = nil, replacing old: MulticastMember? = nil
  ) {
    self.token = token
    self.wishes = wishes
    self.order = order
    life = old?.life ?? RegistrationLife()
    earlier = old.map { old in old.earlier.filter { $0.member != nil } + [Weak(member: old)] } ?? []
    mark = if case .blocking = wishes.lane.kind { wishes.lane.mark } else { nil }
    var isSpecial = wishes.isOnce
    if case .caller = wishes.lane.kind {} else { isSpecial = true }
    listed = ListedTarget(reference, isSpecial: isSpecial, blocks: old?.listed.blocks ?? 0)
  }

  var reference: ObjectReference { listed.reference }
  var isOnce: Bool { wishes.isOnce }

  /// Whether this delivery may have the member: for a once-only one, the first delivery alone.
  func take() -> Bool { !isOnce || life.take() }

  func markRemoved() {
    for old in earlier { old.member?.listed.markRemoved() }
    listed.markRemoved()
  }

  func block() {
    for old in earlier { old.member?.listed.block() }
    listed.block()
  }

  /// False if it was not blocked.
  func unblock() -> Bool {
    for old in earlier { _ = old.member?.listed.unblock() }
    return listed.unblock()
  }
}

/// What all versions of a registration have in common. It dies when no delivery has the
/// registration any more.
final class RegistrationLife: Sendable {
  private let taken = Atomic(false)
  private let met = Atomic(false)
  private let farewell = AtomicLazyReference<DispatchGroup>()

  deinit { farewell.load()?.leave() }

  /// True for the first call alone.
  func take() -> Bool { !taken.exchange(true, ordering: .acquiringAndReleasing) }

  /// Whether a delivery has found the target alive.
  var wasMet: Bool { met.load(ordering: .relaxed) }

  func meet() { met.store(true, ordering: .relaxed) }

  /// The group that is left when this dies.
  var end: DispatchGroup {
    if let known = farewell.load() { return known }
    let made = DispatchGroup()
    made.enter()
    let kept = farewell.storeIfNil(made)
    if kept !== made { made.leave() }
    return kept
  }
}
