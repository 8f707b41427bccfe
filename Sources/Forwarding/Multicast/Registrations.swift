/// The registrations of a multicast proxy: who is found by a token or by a target.
///
/// Nothing here looks at all of them, unless all are asked for: a change takes as long with a million as with a
/// hundred. Their order is that of the proxy's list.
struct Registrations {
  /// The oldest registration of each target.
  private var table = RegistrationTable()
  private var stored: UInt32 = 0
  private var lastID: UInt64 = 0
  private var rare: Rare?

  /// What most proxies do not need: one that has nothing to do is small.
  private final class Rare {
    /// The registrations of a target but the oldest, oldest first.
    var others: [ObjectIdentifier: [Registration]] = [:]
    var orders: [ObjectIdentifier: ObjectReference] = [:]
  }

  private mutating func makeRare() -> Rare {
    if let rare { return rare }
    let made = Rare()
    rare = made
    return made
  }

  /// How many there are.
  var count: Int { Int(stored) }

  // MARK: Looking

  func find(_ token: MulticastProxy.Token) -> Registration? {
    guard let first = table[token.target] else { return nil }
    return first.id == token.id ? first : rare?.others[token.target]?.first { $0.id == token.id }
  }

  func all(of target: ObjectIdentifier) -> [Registration] {
    guard let first = table[target] else { return [] }
    return [first] + (rare?.others[target] ?? [])
  }

  func contains(_ target: ObjectIdentifier) -> Bool { table[target] != nil }

  // MARK: Adding

  /// A target to register, with the wishes for it.
  struct Request {
    let proxy: MulticastProxy
    let target: AnyObject
    let isStrong: Bool
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
    /// What was replaced, to be let go outside of the lock.
    var old: Registration.Wishes?
  }

  mutating func add(
    _ request: Request, _ rule: MulticastProxy.DuplicateRule, to list: TargetList
  ) -> Added {
    let target = ObjectIdentifier(request.target)
    let first = table[target]
    if rule == .ignore, let first, let same = duplicate(of: request, first) {
      same.keep(isScope: request.isScope)
      return Added(token: same.token, old: change(same, request, in: list))
    }
    lastID += 1
    let wishes = Registration.Wishes(
      lane: request.lane, priority: request.priority ?? 0, group: request.group,
      isOnce: request.isOnce)
    let registration = Registration(
      lastID, request.target, isStrong: request.isStrong, wishes, outlet: outlet(of: request))
    registration.keep(isScope: request.isScope)
    if first == nil {
      table.insert(registration)
    } else {
      makeRare().others[target, default: []].append(registration)
    }
    stored += 1
    list.place(registration)
    return Added(token: registration.token)
  }

  /// The registration of the same target with the same queue or actor.
  private func duplicate(of request: Request, _ first: Registration) -> Registration? {
    let lane = request.lane.identity
    if first.wishes.lane.identity == lane { return first }
    return rare?.others[first.identity]?.first { $0.wishes.lane.identity == lane }
  }

  /// Lets new wishes take effect on a registration that is there; returns the old ones. The queue or actor
  /// stays the same, and so does the order that belongs to it.
  private func change(
    _ registration: Registration, _ request: Request, in list: TargetList
  ) -> Registration.Wishes? {
    if request.isStrong { registration.keepAlive() }
    let old = registration.wishes
    var wishes = old
    wishes.lane = request.lane
    wishes.priority = request.priority ?? old.priority
    wishes.group = request.group ?? old.group
    wishes.isOnce = old.isOnce && request.isOnce
    guard wishes != old else { return nil }
    registration.wishes = wishes
    registration.setWay(wishes.way)
    if wishes.priority != old.priority {
      list.remove(registration)
      list.place(registration)
    }
    return old
  }

  /// What a lane needs. All registrations with an actor or executor share the order of its messages.
  private mutating func outlet(of request: Request) -> LaneOutlet {
    switch request.lane.kind {
    case .caller: return .none
    case .queue(let queue, _), .blocking(let queue, _):
      guard let mark = request.lane.mark else { return .none }
      return .queue(QueueOutlet(queue, mark, request.proxy))
    case .actor, .executor: break
    }
    guard let key = request.lane.identity else { return .none }
    let rare = makeRare()
    if let known = rare.orders[key]?.object as? LaneOrder { return .order(known) }
    let made = LaneOrder()
    rare.orders = rare.orders.filter { $0.value.object != nil }
    rare.orders[key] = ObjectReference(made, isStrong: false)
    return .order(made)
  }

  // MARK: Removing

  // All of these return what they removed, to be let go outside of the lock.

  /// Removes registrations that are there.
  private mutating func remove(
    all registrations: [Registration], from list: TargetList
  ) -> [Registration] {
    for registration in registrations {
      forget(registration)
      list.remove(registration)
      registration.markRemoved()
    }
    stored -= UInt32(registrations.count)
    return registrations
  }

  mutating func remove(
    _ token: MulticastProxy.Token, from list: TargetList
  ) -> [Registration] {
    find(token).map { remove(all: [$0], from: list) } ?? []
  }

  mutating func remove(
    of target: ObjectIdentifier, from list: TargetList,
    where matches: (Registration) -> Bool = { _ in true }
  ) -> [Registration] {
    remove(all: all(of: target).filter(matches), from: list)
  }

  mutating func remove(
    from list: TargetList, where matches: (Registration) -> Bool
  ) -> [Registration] {
    remove(all: list.all.filter(matches), from: list)
  }

  private mutating func forget(_ registration: Registration) {
    let target = registration.identity
    // Taken out, so that the rest is changed in place.
    guard var rest = rare?.others.removeValue(forKey: target) else { return table.remove(target) }
    if table[target] === registration {
      table.replace(with: rest.removeFirst())
    } else {
      rest.removeAll { $0 === registration }
    }
    if !rest.isEmpty { rare?.others[target] = rest }
  }

  /// Ends one scope of a registration; the last one removes it, unless somebody else keeps it.
  mutating func endScope(
    _ token: MulticastProxy.Token, from list: TargetList
  ) -> [Registration] {
    guard let registration = find(token), registration.endScope() else { return [] }
    return remove(all: [registration], from: list)
  }
}

extension TargetList {
  /// Puts a registration behind those of the same or a higher priority.
  fileprivate func place(_ registration: Registration) {
    let priority = registration.priority
    insert(registration) { $0.priority < priority }
  }
}
