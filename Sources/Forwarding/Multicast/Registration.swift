// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

/// A registration with a multicast proxy. It is deallocated when the proxy and all deliveries have
/// released it.
///
/// There may be a million registrations: a registration is itself the member of the proxy's list,
/// and state that few of them need is in ``RegistrationDetails``.
typealias Registration = ListedTarget

extension Registration {
  /// The options of a registration.
  struct Wishes: Equatable, Sendable {
    var lane = DeliveryLane.caller
    var priority = 0
    var group: String?
    var isOnce = false
  }

  convenience init(
    _ id: UInt64, _ target: AnyObject, isStrong: Bool, _ wishes: Wishes, _ carrier: Carrier,
    of proxy: MulticastProxy
  ) {
    self.init(
      target, id: id, isStrong: isStrong, wishes.way,
      notes: wishes.arePlain
        ? nil : RegistrationDetails(wishes, carrier, WeakReference(proxy)))
  }

  /// The options and what belongs to them; nil if all have their defaults.
  var details: RegistrationDetails? {
    // The proxy makes the notes, and makes no others.
    notes.map { KnownClass.object($0, as: RegistrationDetails.self) }
  }

  private var made: RegistrationDetails {
    if let details { return details }
    let made = RegistrationDetails(Wishes(), .none, nil)
    notes = made
    return made
  }

  /// The options. ``MulticastProxy/wishes(of:)`` reads them, and ``Registrations`` changes them.
  var wishes: Wishes {
    get { details?.wishes ?? Wishes() }
    set { made.wishes = newValue }
  }

  /// The priority, which is read whenever another registration is inserted.
  var priority: Int { details?.wishes.priority ?? 0 }

  /// What brings calls to the lane. It stays the same while the registration exists.
  var carrier: Carrier { details?.carrier ?? .none }

  /// The number of methods on the lane that have begun and may be suspended. It is guarded as the
  /// options are.
  var suspended: Int { details?.suspended ?? 0 }

  /// A group that is left when the registration is deallocated.
  var end: DispatchGroup {
    if let known = made.end { return known }
    let group = DispatchGroup()
    group.enter()
    made.end = group
    return group
  }
}

extension ListedTarget.Marks {
  /// A delivery has claimed the only message of a once-only registration.
  fileprivate static let taken = Self(rawValue: 2)
  /// Calls claim the once-only registration when they are made.
  fileprivate static let claimedAtCall = Self(rawValue: 16)
  /// The target is asked after all others.
  fileprivate static let fallback = Self(rawValue: 32)
  /// Another target has taken the place of this one.
  fileprivate static let replaced = Self(rawValue: 64)
}

extension Registration {
  /// Claims the message of a once-only registration; true for the first caller only.
  func claim() -> Bool { !isRemoved && !mark(.taken).contains(.taken) }

  /// Whether a message has claimed the once-only registration, and has ended it or may yet do so.
  var isClaimed: Bool { marks.contains(.taken) }

  /// Takes back a claim: the target had no method for the message.
  func unclaim() { unmark(.taken) }

  /// Whether calls claim the registration when they are made.
  var isClaimedAtCall: Bool { marks.contains(.claimedAtCall) }

  func claimAtCall() { mark(.claimedAtCall) }

  var isFallback: Bool { marks.contains(.fallback) }

  func markFallback() { mark(.fallback) }

  func markReplaced() { mark(.replaced) }

  /// Whether it is no longer in the list.
  var isGone: Bool { isRemoved || marks.contains(.replaced) }
}

extension Registration.Wishes {
  /// Whether all options have their defaults.
  var arePlain: Bool { priority == 0 && group == nil && way == .called }

  /// How deliveries reach the target: whether they have to read the options.
  var way: ListedTarget.Way {
    if isOnce || lane.deadline != nil { return .special }
    return switch lane.kind {
    case .caller: .called
    case .queue: lane.waits ? .awaited : .queued
    case .order: .special
    }
  }
}

/// State that most registrations do not need. It is guarded by the lock of the proxy's
/// `Registrations`, except for what never changes.
final class RegistrationDetails: @unchecked Sendable {
  // SAFETY: see above.
  var wishes: Registration.Wishes
  let carrier: Carrier
  /// Weak: the proxy retains the registration. Nil if there is no lane.
  private let proxy: WeakReference<MulticastProxy>?
  /// A group that is left when the registration is deallocated.
  var end: DispatchGroup?
  /// The number of methods that may be suspended on the lane.
  var suspended = 0

  init(
    _ wishes: Registration.Wishes, _ carrier: Carrier,
    _ proxy: consuming WeakReference<MulticastProxy>?
  ) {
    self.wishes = wishes
    self.carrier = carrier
    self.proxy = proxy
  }

  /// A registration releases its target before its notes.
  deinit { end?.leave() }

  var owner: MulticastProxy? {
    switch proxy {
    case .some(let proxy): proxy.object
    case .none: nil
    }
  }

  /// Runs `body`, which calls the target: on the queue while this thread waits, or here without one.
  /// Returns false, without having run it, if the wait would never end.
  func run(_ body: () -> Void) -> Bool {
    let isFree = BlockingChain.isFree
    guard let marked = carrier.marked, isFree || !marked.mark.isCurrent else {
      body()
      return true
    }
    guard let chain = isFree ? .nobody : BlockingChain.waiting(for: marked.mark) else {
      return false
    }
    // The queue may use another thread.
    marked.system.sync { chain.run(body) }
    return true
  }
}
