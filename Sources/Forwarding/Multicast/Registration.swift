import Dispatch

/// One registration with a multicast proxy. It dies when the proxy and all deliveries have let go of it.
///
/// There may be a million: it is the member of the proxy's list itself, and what few of them need lies in
/// ``Rare``.
typealias Registration = ListedTarget

extension Registration {
  /// How a target wants its messages.
  struct Wishes: Sendable {
    var lane = DeliveryLane.caller
    var priority = 0
    var group: String?
    var isOnce = false
  }

  /// What most registrations do not need. Behind the lock of the proxy's `Registrations`, but for the outlet:
  /// who has a lane has it from the beginning.
  private final class Rare {
    var wishes: Wishes
    /// What its lane needs for its messages. The queue, actor or executor of a registration stays the same.
    let outlet: LaneOutlet
    var end: DispatchGroup?

    init(_ wishes: Wishes, _ outlet: LaneOutlet) {
      self.wishes = wishes
      self.outlet = outlet
    }

    /// A registration lets its target go before this.
    deinit { end?.leave() }
  }

  convenience init(
    _ id: UInt64, _ target: AnyObject, isStrong: Bool, _ wishes: Wishes,
    outlet: (Registration) -> LaneOutlet
  ) {
    self.init(target, id: id, isStrong: isStrong, wishes.way, notes: nil)
    if !wishes.arePlain { notes = Rare(wishes, outlet(self)) }
  }

  private var rare: Rare? { notes as? Rare }

  private var made: Rare {
    if let rare { return rare }
    let made = Rare(Wishes(), .none)
    notes = made
    return made
  }

  var token: MulticastProxy.Token { MulticastProxy.Token(id: id, target: identity) }

  /// What was wished for. Read by ``MulticastProxy/wishes(of:)``, changed by ``Registrations``.
  var wishes: Wishes {
    get { rare?.wishes ?? Wishes() }
    set { made.wishes = newValue }
  }

  /// The part of the wishes that is read whenever another registration is placed.
  var priority: Int { rare?.wishes.priority ?? 0 }

  var outlet: LaneOutlet { rare?.outlet ?? .none }

  /// The group that is left when this has died.
  var end: DispatchGroup {
    if let known = made.end { return known }
    let group = DispatchGroup()
    group.enter()
    made.end = group
    return group
  }
}

extension ListedTarget.Marks {
  /// A delivery has found the target alive.
  fileprivate static let met = Self(rawValue: 1)
  /// A delivery has the one message of a registration for one.
  fileprivate static let taken = Self(rawValue: 2)
  /// Somebody keeps it for good. The number counts the scopes that keep it until they end.
  fileprivate static let kept = Self(rawValue: 4)
}

extension Registration {
  /// True for the first call alone: for a once-only registration, the delivery that may have it.
  func claim() -> Bool { !mark(.taken).contains(.taken) }

  /// Whether a delivery has found the target alive.
  var wasMet: Bool { marks.contains(.met) }

  func meet() { if !wasMet { mark(.met) } }

  /// Keeps it for a scope, or for good.
  func keep(isScope: Bool) {
    if isScope {
      count(up: true)
    } else {
      mark(.kept)
    }
  }

  /// Ends a scope; true if nobody else keeps it.
  func endScope() -> Bool {
    let marks = count(up: false)
    return marks.number == 0 && !marks.contains(.kept)
  }
}

extension Registration.Wishes {
  /// Whether there are none.
  var arePlain: Bool { priority == 0 && group == nil && way == .called }

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
