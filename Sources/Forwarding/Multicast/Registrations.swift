/// The registrations of a multicast proxy, in the order of delivery.
///
/// A registration is found by its token and by its target in one step, however many there are. Those
/// that are removed leave a gap, and gaps are closed once they are half of all.
struct Registrations {
  /// The keepers of a registration: scopes until the last of them ends, anybody else for good.
  private struct Keepers {
    var scopes = 0
    var isKept = false
  }

  /// What is known of one token.
  private struct Known {
    var index: Int
    var keepers = Keepers()
  }

  /// In the order of delivery; nil where one was removed.
  private var slots: [Registration?] = []
  private var known: [MulticastProxy.Token: Known] = [:]
  private var byTarget: [ObjectIdentifier: [MulticastProxy.Token]] = [:]
  private var orders: [ObjectIdentifier: WeakOrder] = [:]
  private var lastID: UInt64 = 0
  /// What others see: an array of their own, as this one is changed where it is.
  private var shown: Shown?

  private struct WeakOrder { weak let order: LaneOrder? }

  /// An array that never changes.
  final class Shown: Sendable {
    let registrations: [Registration]
    init(_ registrations: [Registration]) { self.registrations = registrations }
  }

  // MARK: Looking

  /// How many there are.
  var count: Int { known.count }

  /// The registrations as they are now.
  mutating func show() -> Shown {
    if let shown { return shown }
    let made = Shown(slots.compactMap { $0 })
    shown = made
    return made
  }

  func find(_ token: MulticastProxy.Token) -> Registration? {
    known[token].flatMap { slots[$0.index] }
  }

  func all(of target: ObjectIdentifier) -> [Registration] {
    (byTarget[target] ?? []).compactMap { find($0) }
  }

  func contains(_ target: ObjectIdentifier) -> Bool { byTarget[target] != nil }

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

  mutating func add(_ request: Request, _ rule: MulticastProxy.DuplicateRule) -> Added {
    if rule == .ignore, let same = duplicate(of: request) {
      keep(same.token, request)
      return Added(token: same.token, old: change(same, request))
    }
    lastID += 1
    let token = MulticastProxy.Token(id: lastID)
    let wishes = Registration.Wishes(
      lane: request.lane, priority: request.priority ?? 0, group: request.group,
      isOnce: request.isOnce)
    place(
      Registration(
        token, request.target, isStrong: request.isStrong, wishes, outlet: outlet(of: request)))
    byTarget[ObjectIdentifier(request.target), default: []].append(token)
    keep(token, request)
    return Added(token: token)
  }

  /// The registration of the same target with the same queue or actor.
  private func duplicate(of request: Request) -> Registration? {
    all(of: ObjectIdentifier(request.target)).first {
      $0.wishes.lane.identity == request.lane.identity
    }
  }

  private mutating func keep(_ token: MulticastProxy.Token, _ request: Request) {
    // In and out as a whole: a change in place of a part of it allocates.
    guard var found = known[token] else { return }
    if request.isScope { found.keepers.scopes += 1 } else { found.keepers.isKept = true }
    known[token] = found
  }

  /// Lets new wishes take effect on a registration that is there; returns the old ones. The queue or actor
  /// stays the same, and so does the order that belongs to it.
  private mutating func change(
    _ registration: Registration, _ request: Request
  ) -> Registration.Wishes? {
    if request.isStrong { registration.listed.keepAlive() }
    let old = registration.wishes
    var wishes = old
    wishes.lane = request.lane
    wishes.priority = request.priority ?? old.priority
    wishes.group = request.group ?? old.group
    wishes.isOnce = old.isOnce && request.isOnce
    guard wishes != old, let index = known[registration.token]?.index else { return nil }
    registration.wishes = wishes
    registration.listed.setWay(wishes.way)
    if wishes.priority != old.priority {
      vacate(index)
      place(registration)
    }
    return old
  }

  /// Puts a registration behind those of the same or a higher priority.
  private mutating func place(_ registration: Registration) {
    shown = nil
    let priority = registration.wishes.priority
    let isLower = { (other: Registration?) in (other?.wishes.priority ?? priority) < priority }
    if let last = slots.last, isLower(last) {
      slots.insert(registration, at: slots.firstIndex(where: isLower) ?? slots.endIndex)
      number()
    } else {
      slots.append(registration)
      known[registration.token, default: Known(index: 0)].index = slots.count - 1
    }
  }

  /// Updates the index of each registration.
  private mutating func number() {
    for (index, registration) in slots.enumerated() {
      if let registration { known[registration.token, default: Known(index: 0)].index = index }
    }
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
    if let known = orders[key]?.order { return .order(known) }
    let made = LaneOrder()
    orders = orders.filter { $0.value.order != nil }
    orders[key] = WeakOrder(order: made)
    return .order(made)
  }

  // MARK: Removing

  // All of these return what they removed, to be let go outside of the lock.

  mutating func remove(_ tokens: some Sequence<MulticastProxy.Token>) -> [Registration] {
    var gone: [Registration] = []
    for token in tokens {
      guard let registration = find(token), let index = known.removeValue(forKey: token)?.index
      else { continue }
      vacate(index)
      forget(token, of: registration.listed.identity)
      registration.listed.markRemoved()
      gone.append(registration)
    }
    if !gone.isEmpty { shown = nil }
    closeGaps()
    return gone
  }

  mutating func remove(_ token: MulticastProxy.Token) -> [Registration] {
    remove(CollectionOfOne(token))
  }

  mutating func remove(
    of target: ObjectIdentifier, where matches: (Registration) -> Bool = { _ in true }
  ) -> [Registration] {
    remove(all(of: target).filter(matches).map(\.token))
  }

  mutating func remove(where matches: (Registration) -> Bool) -> [Registration] {
    remove(slots.compactMap { $0 }.filter(matches).map(\.token))
  }

  private mutating func forget(_ token: MulticastProxy.Token, of target: ObjectIdentifier) {
    byTarget[target]?.removeAll { $0 == token }
    if byTarget[target]?.isEmpty ?? false { byTarget[target] = nil }
  }

  /// Ends one scope of a registration; the last one removes it, unless somebody else keeps it.
  mutating func endScope(_ token: MulticastProxy.Token) -> [Registration] {
    known[token]?.keepers.scopes -= 1
    guard let keepers = known[token]?.keepers, keepers.scopes == 0, !keepers.isKept else {
      return []
    }
    return remove(token)
  }

  /// Leaves a gap, but none at the end.
  private mutating func vacate(_ index: Int) {
    slots[index] = nil
    while case .some(nil) = slots.last { slots.removeLast() }
  }

  private mutating func closeGaps() {
    guard slots.count > 16, slots.count > 2 * known.count else { return }
    slots.removeAll { $0 == nil }
    number()
  }
}
