/// The registrations of a multicast proxy, in the order of delivery.
struct Registrations {
  /// Who keeps a registration: scopes until the last of them ends, anybody else for good.
  private struct Owners {
    var scopes = 0
    var isKept = false
  }

  private(set) var list: [MulticastMember] = []
  private var lastID: UInt64 = 0
  /// The registrations of each target with each queue, so that adding stays quick with many.
  private var byKey: [MulticastMember.Key: [MulticastMember]] = [:]
  private var owners: [MulticastProxy.Token: Owners] = [:]
  private var orders: [ObjectIdentifier: WeakOrder] = [:]
  /// What others see of `list`: an array of their own, as this one is changed where it is.
  private var shown: Shown?

  private struct WeakOrder { weak let order: LaneOrder? }

  /// An array that never changes.
  final class Shown: Sendable {
    let members: [MulticastMember]
    init(_ members: [MulticastMember]) { self.members = members }
  }

  /// The registrations as they are now.
  mutating func show() -> Shown {
    if let shown { return shown }
    let made = Shown(list.map { $0 })
    shown = made
    return made
  }

  func member(_ token: MulticastProxy.Token) -> MulticastMember? {
    list.first { $0.token == token }
  }

  func contains(_ target: ObjectIdentifier) -> Bool {
    list.contains { $0.reference.identity == target }
  }

  // MARK: Adding

  /// What to register, and for whom.
  struct Request {
    let reference: ObjectReference
    let lane: DeliveryLane
    /// nil where nothing was said.
    let priority: Int?
    let group: String?
    let isOnce: Bool
    let isScope: Bool
  }

  /// What came of a request.
  struct Added {
    var token: MulticastProxy.Token
    /// The version that is no more, to be let go outside of the lock.
    var old: MulticastMember?
  }

  mutating func add(_ request: Request, _ rule: MulticastProxy.DuplicateRule) -> Added {
    let key = MulticastMember.Key(
      target: request.reference.identity, lane: request.lane.identity)
    if rule != .allow, let same = byKey[key]?.first {
      own(same.token, request)
      return Added(token: same.token, old: change(same, request))
    }
    lastID += 1
    let token = MulticastProxy.Token(id: lastID)
    own(token, request)
    let wishes = MulticastMember.Wishes(
      isStrong: request.reference.isStrong, lane: request.lane, priority: request.priority ?? 0,
      group: request.group, isOnce: request.isOnce)
    let member = MulticastMember(
      token, request.reference, wishes, order: order(of: request.lane))
    byKey[key, default: []].append(member)
    place(member)
    return Added(token: token)
  }

  private mutating func own(_ token: MulticastProxy.Token, _ request: Request) {
    if request.isScope {
      owners[token, default: Owners()].scopes += 1
    } else {
      owners[token, default: Owners()].isKept = true
    }
  }

  /// Lets new wishes take effect on a registration that is there; gives back the old version of it.
  private mutating func change(_ old: MulticastMember, _ request: Request) -> MulticastMember? {
    var wishes = old.wishes
    wishes.isStrong = wishes.isStrong || request.reference.isStrong
    wishes.lane = request.lane
    wishes.priority = request.priority ?? wishes.priority
    wishes.group = request.group ?? wishes.group
    wishes.isOnce = wishes.isOnce && request.isOnce
    guard wishes != old.wishes, let index = list.firstIndex(where: { $0 === old }) else {
      return nil
    }
    let reference = request.reference.isStrong ? request.reference : old.reference
    let new = MulticastMember(
      old.token, reference, wishes, order: order(of: wishes.lane), replacing: old)
    byKey[new.key] = byKey[new.key]?.map { $0 === old ? new : $0 }
    if wishes.priority == old.wishes.priority {
      shown = nil
      list[index] = new
    } else {
      list.remove(at: index)
      place(new)
    }
    return old
  }

  /// Puts a member behind those of the same or a higher priority.
  private mutating func place(_ member: MulticastMember) {
    shown = nil
    let priority = member.wishes.priority
    if let last = list.last, last.wishes.priority < priority {
      let index = list.firstIndex { $0.wishes.priority < priority } ?? list.endIndex
      list.insert(member, at: index)
    } else {
      list.append(member)
    }
  }

  /// The order that all registrations with an actor or executor share.
  private mutating func order(of lane: DeliveryLane) -> LaneOrder? {
    switch lane.kind {
    case .caller, .queue, .blocking: return nil
    case .actor, .executor: break
    }
    guard let key = lane.identity else { return nil }
    if let known = orders[key]?.order { return known }
    let made = LaneOrder()
    orders = orders.filter { $0.value.order != nil }
    orders[key] = WeakOrder(order: made)
    return made
  }

  // MARK: Removing

  /// Removes registrations and gives them back, to be let go outside of the lock.
  mutating func remove(where matches: (MulticastMember) -> Bool) -> [MulticastMember] {
    let gone = list.filter(matches)
    guard !gone.isEmpty else { return [] }
    shown = nil
    list.removeAll(where: matches)
    for member in gone {
      byKey[member.key]?.removeAll { $0 === member }
      if byKey[member.key]?.isEmpty ?? false { byKey[member.key] = nil }
      owners[member.token] = nil
      member.markRemoved()
    }
    return gone
  }

  /// Ends one scope of a registration, which goes with the last if nobody else keeps it.
  mutating func endScope(_ token: MulticastProxy.Token) -> [MulticastMember] {
    guard var owner = owners[token] else { return [] }
    owner.scopes -= 1
    owners[token] = owner
    guard owner.scopes == 0, !owner.isKept else { return [] }
    return remove { $0.token == token }
  }
}

extension MulticastMember.Wishes: Equatable {
  static func == (one: Self, other: Self) -> Bool {
    one.isStrong == other.isStrong && one.lane == other.lane && one.priority == other.priority
      && one.group == other.group && one.isOnce == other.isOnce
  }
}
