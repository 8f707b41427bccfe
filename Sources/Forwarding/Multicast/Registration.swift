import Dispatch
import Synchronization

/// One registration with a multicast proxy. It dies when the proxy and all deliveries have let go of it.
///
/// What changes while deliveries on other threads have it is atomic, except for its wishes.
final class Registration: @unchecked Sendable {
  // SAFETY: `wishes` is behind the lock of the proxy's `Registrations`.

  /// How a target wants its messages.
  struct Wishes: Sendable {
    var lane: DeliveryLane
    var priority: Int
    var group: String?
    var isOnce: Bool
  }

  let token: MulticastProxy.Token
  /// The target, as deliveries see it.
  let listed: ListedTarget
  /// What was wished for. Read by ``MulticastProxy/wishes(of:)``, changed by ``Registrations``.
  var wishes: Wishes
  /// What its lane needs for its messages. The queue, actor or executor of a registration stays the same.
  let outlet: LaneOutlet
  private let taken = Atomic(false)
  private let met = Atomic(false)
  /// Behind the target, which is let go first.
  private let farewell = Farewell()

  init(
    _ token: MulticastProxy.Token, _ target: AnyObject, isStrong: Bool, _ wishes: Wishes,
    outlet: LaneOutlet = .none
  ) {
    self.token = token
    self.wishes = wishes
    self.outlet = outlet
    listed = ListedTarget(target, isStrong: isStrong, wishes.way)
  }

  /// True for the first call alone: for a once-only registration, the delivery that may have it.
  func claim() -> Bool { !taken.exchange(true, ordering: .acquiringAndReleasing) }

  /// Whether a delivery has found the target alive.
  var wasMet: Bool { met.load(ordering: .relaxed) }

  func meet() { met.store(true, ordering: .relaxed) }

  /// The group that is left when this has died.
  var end: DispatchGroup { farewell.group }
}

extension Registration.Wishes {
  /// Whether a delivery has to look at them, or may do without.
  var way: ListedTarget.Way {
    if isOnce { return .special }
    return switch lane.kind {
    case .caller: .called
    case .queue: .queued
    case .blocking(_, nil): .awaited
    case .blocking, .actor, .executor: .special
    }
  }
}

extension Registration.Wishes: Equatable {
  static func == (one: Self, other: Self) -> Bool {
    one.lane == other.lane && one.priority == other.priority && one.group == other.group
      && one.isOnce == other.isOnce
  }
}

/// Tells those who wait that something is over.
private struct Farewell: ~Copyable {
  private let made = AtomicLazyReference<DispatchGroup>()

  deinit { made.load()?.leave() }

  var group: DispatchGroup {
    if let known = made.load() { return known }
    let new = DispatchGroup()
    new.enter()
    let kept = made.storeIfNil(new)
    if kept !== new { new.leave() }
    return kept
  }
}
