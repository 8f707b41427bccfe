// SPDX-License-Identifier: Apache-2.0
public import Invocations
import Synchronization
public import TypeEncodings

/// A proxy that sends every message to many targets, in order.
///
/// ```swift
/// let everyone = MulticastProxy()
/// everyone.add(screen)
/// everyone.add(logger, on: .queue(background))
/// try Message<NoResult, Int32>("didSave:")(42, on: everyone)
/// ```
///
/// Targets are held weakly unless `strongly` is true. A delivery works on a snapshot of the list:
/// it skips targets removed before their turn, and does not call targets added during it. The proxy
/// is thread-safe; no lock is held while a target runs.
public class MulticastProxy: ForwardingProxy, SharedProxy, @unchecked Sendable {
  // SAFETY: all mutable state is behind the lock of `registrations`, or atomic.

  let registrations = Guarded(Registrations())
  /// The targets as deliveries see them. The object also identifies a delivery of this proxy among
  /// the forwarding steps of a thread.
  package let targetList = TargetList()

  /// The number of the class of the first proxy in front of this one; 0 without one.
  private let front = Atomic<UInt>(0)

  final func noteFront(_ proxy: AnyClass) {
    _ = front.compareExchange(
      expected: 0, desired: KnownProxies.number(proxy), ordering: .relaxed)
  }

  /// How the answers to a message become one, if the protocol of the proxy in front says so.
  final func combiner(of call: Call, _ selector: Selector) -> AnswerCombiner? {
    let known = AnswerCombiner.all(of: call, selector)
    guard !known.isEmpty, let front = KnownProxies.type(front.load(ordering: .relaxed)) else {
      return nil
    }
    return known.first { front.__place(of: $0.proxy) < front.__places }
  }

  /// Creates a proxy without targets.
  ///
  /// - Parameter asksOne: whether a message is for one target, with or without a result: a *data
  ///   source*. The targets are asked in order until one answers, fails, or gets a message without a
  ///   result on a queue; the ``fallback`` is asked last.
  public init(asksOne: Bool = false) {
    super.init()
    targetList.setOwner(self)
    guard asksOne else { return }
    targetList.asksOne = true
    resultRule = .first
    errorRule = .atOnce
  }

  /// Creates a proxy for one object, which each `add` replaces. A message is passed on unchanged, as
  /// by Objective-C's `forwardingTargetForSelector:`. Without the object, every message is an error
  /// at first: ``ForwardingError/targetGone(_:)``.
  public init(one target: AnyObject?, strongly: Bool = false) {
    super.init()
    targetList.setOwner(self)
    targetList.isOfOne = true
    whenNobodyAnswers = .throw
    if let target { add(target, strongly: strongly) }
  }

  /// The weak reference to this proxy that its tokens share.
  private let reference = AtomicLazyReference<ObjectReference>()

  /// The token of a registration. Takes the lock of a target that is a value, so no other lock is
  /// held.
  final func token(of registration: Registration) -> ForwardingToken {
    token(registration.id, of: registration.identity, registration.targetType)
  }

  final func token(
    _ id: UInt64, of target: ObjectIdentifier, _ type: Any.Type
  ) -> ForwardingToken {
    let owner =
      reference.load() ?? reference.storeIfNil(ObjectReference(self, isStrong: false))
    return ForwardingToken(id: id, target: target, type, of: owner)
  }

  // MARK: Adding

  /// Adds a target, behind those of the same or a higher priority.
  ///
  /// If the target is already registered with the same queue, ``duplicateRule`` decides. Under
  /// ``DuplicateRule/ignore`` the existing registration changes: it takes the new queue, and the
  /// priority and group if given; strong wins over weak, and all messages win over one.
  /// - Parameters:
  /// - strongly: whether the target is retained.
  /// - lane: the thread on which the target gets its messages.
  /// - priority: targets with higher priorities are called first; 0 by default.
  /// - group: a name for removing several registrations at once.
  /// - once: whether the registration ends with its first message.
  @discardableResult
  public func add(
    _ target: AnyObject, strongly: Bool = false, on lane: DeliveryLane = .caller,
    priority: Int? = nil, group: String? = nil, once: Bool = false
  ) -> ForwardingToken {
    add(
      Registrations.Request(
        proxy: self, target: target, isStrong: strongly, lane: lane, priority: priority,
        group: group, isOnce: once))
  }

  @discardableResult
  final func add(_ request: Registrations.Request) -> ForwardingToken {
    let (added, replaced, isSweepDue) = change { registrations, list in
      let added = registrations.add(request, to: list)
      let replaced = registrations.remove(replacedBy: request, added.registration, from: list)
      return (added, replaced, registrations.isSweepDue)
    }
    withExtendedLifetime(replaced) {}
    if isSweepDue { purge() }
    return token(of: added.registration)
  }

  // MARK: Removing

  /// Ends a claimed registration after its message, if it is still once-only.
  func endOnce(_ registration: Registration) {
    end { registrations, list in
      if registration.wishes.isOnce { return registrations.remove([registration], from: list) }
      registration.unclaim()
      return []
    }
  }

  /// Removes registrations, and returns their number. They are released outside the lock, because a
  /// target may be deallocated with its registration.
  @discardableResult
  func end(_ remove: (inout Registrations, TargetList) -> [Registration]) -> Int {
    change(remove).count
  }

  /// Changes the registrations. Deliveries that begin after this see the change.
  func change<Result>(_ body: (inout Registrations, TargetList) -> Result) -> Result {
    let (result, old) = registrations.withLockInPlace { registrations in
      // Withdrawn first: any delivery that uses the old list has registered itself by now.
      let old = targetList.withdraw()
      return (body(&registrations, targetList), old)
    }
    targetList.retire(old)
    return result
  }

  // MARK: Steps of forwarding

  public override func forwardingTarget(for selector: Selector) -> AnyObject? { passedOnTarget }

  public override func responds(to selector: Selector) -> Bool {
    if super.responds(to: selector) { return true }
    return targets.contains { Introspection.responds($0, to: selector) }
  }

  public override func conforms(to description: ProtocolDescription) -> Bool {
    if super.conforms(to: description) { return true }
    return targets.contains { Introspection.conforms($0, to: description) }
  }

  public override func methodSignature(for selector: Selector) -> MethodSignature? {
    if let own = super.methodSignature(for: selector) { return own }
    // Reads targets, not registrations: the code of a target may wait for a registration to end.
    return Self.signature(for: selector, in: targets)
  }

  static func signature(for selector: Selector, in targets: [AnyObject]) -> MethodSignature? {
    for target in targets {
      if let signature = Introspection.signature(of: target, for: selector) { return signature }
    }
    return nil
  }

  /// Every invocation fits: each target's method is compared separately, and a message without a
  /// method in any target counts as unanswered.
  public override func signature(for invocation: Invocation) -> MethodSignature? {
    invocation.methodSignature
  }

  /// Delivers the invocation to all targets.
  /// - Throws: the first error of a target, after all others were called.
  public override func forward(_ invocation: Invocation) throws {
    try forward(invocation.call)
  }

  /// Delivers the invocation to all targets, and awaits one after the other.
  /// - Throws: the first error of a target, after all others were called.
  public override nonisolated(nonsending) func forwardAwaiting(
    _ invocation: Invocation
  ) async throws {
    try await sendAwaiting(invocation, concurrently: false)
  }
}

extension MulticastProxy {
  // MARK: Looking

  /// The current registrations, in the order of delivery.
  var snapshot: [Registration] { registrations.withLockInPlace { _ in targetList.all } }

  /// The current options of a registration.
  func wishes(of registration: Registration) -> Registration.Wishes {
    registrations.withLockInPlace { _ in registration.wishes }
  }

  func withRegistration<Result>(_ token: ForwardingToken, _ body: (Registration) -> Result)
    -> Result?
  {
    registrations.withLockInPlace { $0.find(token).map(body) }
  }

  /// The number of registrations, including those of dead targets that no delivery has found yet.
  public var registrationCount: Int { registrations.withLockInPlace { $0.count } }

  /// The targets that are alive, in the order of delivery.
  public var targets: [AnyObject] { snapshot.compactMap { $0.object } }

  // MARK: Asking one

  /// The target that is asked after all others, whatever their priorities. It is held weakly.
  public var fallback: AnyObject? {
    get { snapshot.last { $0.isFallback }?.object }
    set { setFallback(newValue) }
  }

  /// Sets the target that is asked after all others. It is held weakly unless `strongly` is true.
  public func setFallback(_ target: AnyObject?, strongly: Bool = false) {
    guard let target else { return removeFallback() }
    add(
      Registrations.Request(
        proxy: self, target: target, isStrong: strongly, lane: .caller, priority: nil, group: nil,
        isOnce: false, isFallback: true))
  }

  func removeFallback() {
    _ = change { $0.remove(from: $1) { $0.isFallback } }
  }

  /// The target of a proxy for one object, if a message may be passed on to it as it is.
  var passedOnTarget: AnyObject? {
    guard targetList.isOfOne,
      let only = registrations.withLockInPlace({ _ in targetList.all.first }), only.way == .called,
      let target = only.object
    else { return nil }
    only.markReached()
    return target
  }

  /// Passes a call on to the only target, as a step of this proxy.
  func pass(_ call: Call, on target: AnyObject) throws {
    try call.forwarding(by: self, as: targetList) {
      try call.withInvocation { try $0.send(to: target) }
    }
  }
}

extension MulticastProxy: TargetRegistry, TokenOwner {
  public var _registry: _Registry { _Registry(proxy: self) }
}

extension MulticastProxy: CallForwarding {
  package static var callForwardingClass: AnyClass { MulticastProxy.self }

  package func forward(_ call: Call) throws {
    if let target = passedOnTarget { return try pass(call, on: target) }
    guard let selector = call.selector else { throw InvocationError.selectorNotSet }
    if let combiner = combiner(of: call, selector) {
      return try forward(call, selector, combiner)
    }
    let ends = targetList.ends(hasResult: call.returnsValue)
    var tally = TargetList.Tally()
    try targetList.deliver(call, of: selector, for: self) { turn in
      switch turn.outcome {
      case .answered: tally.answered += 1
      case .failed(let error): tally.fail(error, at: turn.member)
      case .unknown, .skipped: deliver(call, to: turn.member, &tally)
      }
      return !tally.meets(ends)
    }
    if !tally.isSimple(call.returnsValue || UnansweredMessages.hasOtherwise(call)) {
      try conclude(call, selector, tally)
    }
  }
}
