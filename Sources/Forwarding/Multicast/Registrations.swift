// SPDX-License-Identifier: Apache-2.0
import Invocations

/// The registrations of a multicast proxy, found by their token or target.
///
/// The order of delivery is that of the proxy's list.
struct Registrations {
  /// What the registry of the proxy sets.
  struct Settings {
    var duplicates = DuplicateRule.ignore
    var whenUnanswered = UnansweredRule.throwForResults
    var diagnose: (@Sendable (DeliveryDiagnostic) -> Void)?
    /// Unanswered selectors that the targets were asked about. Those up to the limit that they do not
    /// declare are reported, and then one line says that there are more.
    var asked: Set<Selector> = []
    static let unansweredLimit = 1000
  }

  var settings = Settings()
  /// The oldest registration of each target.
  private var oldest: [ObjectIdentifier: Registration] = [:]
  /// The other registrations of a target, oldest first.
  private var others: [ObjectIdentifier: [Registration]] = [:]
  /// The orders of actors and executors. Registrations and messages on their way retain them.
  private var orders: [ObjectIdentifier: ObjectReference] = [:]
  /// The number of orders at which those that have ended are removed. It is twice the number that
  /// was left last time, so that adding one costs the same with a million as with a hundred.
  private var orderLimit = 16
  /// The number of registrations.
  private(set) var count = 0
  /// The number of registrations at which those of dead targets are removed, found like
  /// `orderLimit`.
  private var sweepLimit = 64

  // MARK: Looking

  func find(_ token: ForwardingToken) -> Registration? {
    guard let first = oldest[token.target] else { return nil }
    return first.id == token.id ? first : others[token.target]?.first { $0.id == token.id }
  }

  func all(of target: ObjectIdentifier) -> [Registration] {
    guard let first = oldest[target] else { return [] }
    return [first] + (others[target] ?? [])
  }

  func contains(_ target: ObjectIdentifier) -> Bool { oldest[target] != nil }

  // MARK: Adding

  /// A target to register, and its options.
  struct Request {
    let proxy: MulticastProxy
    let target: AnyObject
    let isStrong: Bool
    let lane: DeliveryLane
    /// nil if none was given.
    let priority: Int?
    let group: String?
    let isOnce: Bool
    /// Whether the target is asked after all others, and takes the place of an earlier one.
    var isFallback = false
    /// Whether the target stands for a value.
    var isBox = false
    /// How the proxy calls the target that it was added through.
    var witnesses: ProxyWitnesses?
  }

  /// The outcome of a request.
  struct Added {
    /// Asked for its token outside the lock, because a token names the type of a value, which has a
    /// lock of its own.
    var registration: Registration
    /// The replaced options, and an ended registration, to be released outside the lock.
    var old: Registration.Wishes?
    var ended: [Registration] = []
  }

  mutating func add(_ request: Request, to list: TargetList) -> Added {
    let target = ObjectIdentifier(request.target)
    let same =
      settings.duplicates == .ignore && !request.isFallback ? duplicate(of: request) : nil
    // A claimed one ends with its message. It is replaced, or else the new wish would end with it.
    let ended = same.map { $0.isClaimed ? remove(all: [$0], from: list) : [] } ?? []
    if let same, ended.isEmpty {
      if let witnesses = request.witnesses { same.witnesses = witnesses }
      return Added(registration: same, old: change(same, request, in: list))
    }
    let wishes = Registration.Wishes(
      lane: request.lane, priority: request.placement, group: request.group,
      isOnce: request.isOnce)
    let registration = Registration(
      ForwardingToken.newID(), request.target, isStrong: request.isStrong, wishes,
      carrier(of: request.lane), of: request.proxy)
    if request.isBox { registration.mark(.box) }
    if request.isFallback { registration.markFallback() }
    registration.witnesses = request.witnesses
    if oldest[target] == nil {
      oldest[target] = registration
    } else {
      others[target, default: []].append(registration)
    }
    count += 1
    list.place(registration)
    return Added(registration: registration, ended: ended)
  }

  /// Whether registrations of dead targets are to be removed, as those of a rare event may never meet
  /// a delivery, and keep the memory of their targets.
  var isSweepDue: Bool { count >= sweepLimit }

  mutating func noteSweep() { sweepLimit = max(64, 2 * count) }

  /// The registration of the same target with the same queue or actor.
  private func duplicate(of request: Request) -> Registration? {
    let (target, lane) = (ObjectIdentifier(request.target), request.lane.identity)
    func isSame(_ one: Registration) -> Bool {
      one.wishes.lane.identity == lane && !one.isFallback
    }
    guard let first = oldest[target] else { return nil }
    return isSame(first) ? first : others[target]?.first(where: isSame)
  }

  /// Applies new options to an existing registration, and returns the old ones. The queue or actor
  /// stays the same, and so does its order.
  private func change(
    _ registration: Registration, _ request: Request, in list: TargetList
  ) -> Registration.Wishes? {
    if request.isStrong { registration.keepAlive() }
    let old = registration.wishes
    var wishes = old
    wishes.lane = request.lane
    if request.priority != nil { wishes.priority = request.placement }
    wishes.group = request.group ?? old.group
    wishes.isOnce = old.isOnce && request.isOnce
    guard wishes != old else { return nil }
    registration.wishes = wishes
    registration.setWay(wishes.way)
    if wishes.priority != old.priority {
      list.remove([registration])
      list.place(registration)
    }
    return old
  }

  /// Creates what brings calls to a lane.
  private mutating func carrier(of lane: DeliveryLane) -> Carrier {
    switch lane.kind {
    case .caller: .none
    case .queue(let queue): .queue(queue)
    case .order(let place): .order(order(of: place))
    }
  }

  /// The order of messages that all registrations with an actor or executor share.
  private mutating func order(of place: OrderedExecutor.Place) -> OrderedExecutor {
    let key = ObjectIdentifier(place.object)
    if let known = orders[key]?.object as? OrderedExecutor { return known }
    let made = OrderedExecutor(place)
    if orders.count >= orderLimit {
      orders = orders.filter { $0.value.object != nil }
      orderLimit = max(16, 2 * orders.count)
    }
    orders[key] = ObjectReference(made, isStrong: false)
    return made
  }

  // MARK: Removing

  // These functions return the removed registrations, to be released outside the lock.

  /// Removes existing registrations.
  ///
  /// - Parameter isReplaced: whether a delivery that has begun still reaches them, as it does not
  ///   reach those that replace them.
  private mutating func remove(
    all registrations: [Registration], from list: TargetList, isReplaced: Bool = false
  ) -> [Registration] {
    for registration in registrations {
      forget(registration)
      isReplaced ? registration.markReplaced() : registration.markRemoved()
    }
    list.remove(registrations)
    count -= registrations.count
    return registrations
  }

  mutating func remove(
    _ token: ForwardingToken, from list: TargetList
  ) -> [Registration] {
    find(token).map { remove(all: [$0], from: list) } ?? []
  }

  /// Removes those of the given registrations that were not removed in the meantime.
  mutating func remove(
    _ registrations: [Registration], from list: TargetList
  ) -> [Registration] {
    let areThere = !registrations.contains { $0.isGone }
    return remove(
      all: areThere ? registrations : registrations.filter { !$0.isGone }, from: list)
  }

  /// Removes the registrations whose place a new one takes: the old fallback, and all others of a
  /// list of one.
  mutating func remove(
    replacedBy request: Request, _ new: Registration, from list: TargetList
  ) -> [Registration] {
    guard request.isFallback || list.isOfOne else { return [] }
    let old = list.all.filter { $0 !== new && (list.isOfOne || $0.isFallback) }
    return remove(all: old, from: list, isReplaced: true)
  }

  mutating func remove(of target: ObjectIdentifier, from list: TargetList) -> [Registration] {
    remove(all: all(of: target), from: list)
  }

  mutating func remove(
    from list: TargetList, where matches: (Registration) -> Bool
  ) -> [Registration] {
    remove(all: list.all.filter(matches), from: list)
  }

  private mutating func forget(_ registration: Registration) {
    let target = registration.identity
    // Taken out of the dictionary, so that the array is changed in place.
    guard var rest = others.removeValue(forKey: target) else { return oldest[target] = nil }
    if oldest[target] === registration {
      oldest[target] = rest.removeFirst()
    } else {
      rest.removeAll { $0 === registration }
    }
    if !rest.isEmpty { others[target] = rest }
  }
}

extension TargetList {
  /// Inserts a registration behind those of the same or a higher priority.
  fileprivate func place(_ registration: Registration) {
    let priority = registration.priority
    insert(registration) { $0.priority < priority }
  }
}

extension Registrations.Request {
  /// The priority in the list. Nothing is behind a fallback.
  fileprivate var placement: Int { isFallback ? .min : max(priority ?? 0, .min + 1) }
}
