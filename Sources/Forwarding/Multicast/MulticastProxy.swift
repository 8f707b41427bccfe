import Synchronization

/// A proxy that speaks to many: every message goes to all targets, in order.
///
/// ```swift
/// let everyone = MulticastProxy()
/// everyone.add(screen)
/// everyone.add(logger, on: .queue(background))
/// try Message<NoResult, Int32>("didSave:")(42, on: everyone)
/// ```
///
/// Targets are held weakly unless told otherwise. The list is a snapshot: a target that is removed
/// during a delivery and not yet reached is skipped, one that is added is not called this round.
/// Safe to use from many threads; no lock is held while a target runs.
open class MulticastProxy: ForwardingProxy, @unchecked Sendable {
  // SAFETY: all that changes is behind the locks of `registrations` and `settings`, or atomic.

  /// Names a registration.
  public struct Token: Hashable, Sendable {
    let id: UInt64
    /// Where the registration is found.
    let target: ObjectIdentifier
  }

  /// What happens to a target that is added again with the same queue.
  public enum DuplicateRule: Sendable {
    /// Nothing; the token of the first registration is returned.
    case ignore
    /// It is called twice.
    case allow
  }

  /// Which of several results the sender sees.
  public enum ResultRule: Sendable {
    /// Everyone is called; the last answer counts.
    case last
    /// The first answer counts and ends the delivery.
    case first
  }

  struct Settings: Sendable {
    var duplicates = DuplicateRule.ignore
    var whenUnanswered = UnansweredRule.throwForResults
    var expectedTargets = Int.max
    var diagnose: (@Sendable (Diagnostic) -> Void)?
    /// What was sent, and nobody answered: as many as are reported, and one more.
    var unanswered: Set<Selector> = []
    static let unansweredLimit = 1000
  }

  let registrations = Guarded(Registrations())
  /// There once one is set: most proxies, of which there may be many, have those that all begin with.
  private let settings = AtomicLazyReference<Guarded<Settings>>()
  /// Said by itself, as a load of the reference takes longer than all that most sends do.
  private let hasSettings = Atomic(false)
  /// What deliveries see of `registrations`. It also stands for a delivery of this proxy among the
  /// forwarding steps of a thread.
  package let targetList = TargetList()

  // MARK: Settings

  var knownSettings: Guarded<Settings> {
    defer { hasSettings.store(true, ordering: .releasing) }
    return settings.load() ?? settings.storeIfNil(Guarded(Settings()))
  }

  private func setting<Value>(_ read: (Settings) -> Value) -> Value {
    guard hasSettings.load(ordering: .acquiring), let settings = settings.load() else {
      return read(Settings())
    }
    return settings.read(read)
  }

  /// What happens to a target that is added again. ``DuplicateRule/ignore`` at first.
  public var duplicateRule: DuplicateRule {
    get { setting { $0.duplicates } }
    set { knownSettings.withLock { $0.duplicates = newValue } }
  }

  /// Which of several results the sender sees. ``ResultRule/last`` at first.
  public var resultRule: ResultRule {
    get { targetList.stopsAtFirstResult ? .first : .last }
    set { targetList.stopsAtFirstResult = newValue == .first }
  }

  /// What a sender gets when nobody answers. ``UnansweredRule/throwForResults`` at first.
  public var whenNobodyAnswers: UnansweredRule {
    get { setting { $0.whenUnanswered } }
    set { knownSettings.withLock { $0.whenUnanswered = newValue } }
  }

  /// How many targets are expected; more are a ``Diagnostic/tooManyTargets(count:limit:)``.
  public var expectedTargets: Int {
    get { setting { $0.expectedTargets } }
    set { knownSettings.withLock { $0.expectedTargets = newValue } }
  }

  /// Gets diagnostics, on whatever thread they come up; no lock is held then.
  public var onDiagnostic: (@Sendable (Diagnostic) -> Void)? {
    get { setting { $0.diagnose } }
    set { knownSettings.withLock { $0.diagnose = newValue } }
  }

  // MARK: Adding

  /// Adds a target, behind those of the same or a higher priority.
  ///
  /// If the target is there already, with the same queue, ``duplicateRule`` decides. Unless that makes a
  /// second registration, the new wishes take effect on the first: its lane, its priority and group
  /// where they are given; strong wins over weak, and all messages over one.
  ///
  /// - Parameters:
  ///   - strongly: whether the target is kept alive.
  ///   - lane: on which thread it gets its messages.
  ///   - priority: higher ones are called first; 0 unless given.
  ///   - group: a name, to remove several at once.
  ///   - once: whether the registration ends with its first message.
  @discardableResult
  public func add(
    _ target: AnyObject, strongly: Bool = false, on lane: DeliveryLane = .caller,
    priority: Int? = nil, group: String? = nil, once: Bool = false
  ) -> Token {
    add(
      Registrations.Request(
        proxy: self, target: target, isStrong: strongly, lane: lane, priority: priority,
        group: group,
        isOnce: once, isScope: false))
  }

  /// Adds a target for as long as the returned object lives. Where several keep one registration,
  /// it ends with the last of them; one that was also added otherwise stays. The object does not
  /// keep the proxy.
  public func scoped(
    _ target: AnyObject, strongly: Bool = false, on lane: DeliveryLane = .caller,
    priority: Int? = nil
  ) -> ScopedRegistration {
    scoped(
      Registrations.Request(
        proxy: self, target: target, isStrong: strongly, lane: lane, priority: priority, group: nil,
        isOnce: false, isScope: true))
  }

  final func scoped(_ request: Registrations.Request) -> ScopedRegistration {
    ScopedRegistration(proxy: self, token: add(request))
  }

  final func add(_ request: Registrations.Request) -> Token {
    let (rule, limit) = setting { ($0.duplicates, $0.expectedTargets) }
    let (added, count) = change { registrations, list in
      (registrations.add(request, rule, to: list), registrations.count)
    }
    if count > limit { diagnose(.tooManyTargets(count: count, limit: limit)) }
    return added.token
  }

  // MARK: Removing

  /// Removes a registration; false if it was gone. When this returns, no delivery takes the target
  /// any more. One on another thread that took it just before may still begin its method;
  /// ``removeAndWait(_:)-(Token)`` waits for that.
  @discardableResult
  public func remove(_ token: Token) -> Bool {
    end { $0.remove(token, from: $1) } > 0
  }

  /// Removes all registrations of a target, and says how many there were.
  @discardableResult
  public func remove(_ target: AnyObject) -> Int {
    end { $0.remove(of: ObjectIdentifier(target), from: $1) }
  }

  /// Removes the registrations of a target with one queue or actor, or with the caller's thread.
  @discardableResult
  public func remove(_ target: AnyObject, on lane: DeliveryLane) -> Int {
    end { registrations, list in
      registrations.remove(of: ObjectIdentifier(target), from: list) {
        $0.wishes.lane.identity == lane.identity
      }
    }
  }

  /// Removes all registrations of a group.
  @discardableResult
  public func removeGroup(_ group: String) -> Int {
    end { registrations, list in registrations.remove(from: list) { $0.wishes.group == group } }
  }

  /// Removes everything.
  @discardableResult
  public func removeAll() -> Int { end { $0.remove(from: $1) { _ in true } } }

  /// Ends a registration for one message, which got it; false if wishes that came since keep it.
  func endOnce(_ registration: Registration) -> Bool {
    end { registrations, list in
      registration.wishes.isOnce ? registrations.remove(registration.token, from: list) : []
    } > 0
  }

  func endScope(_ token: Token) { end { $0.endScope(token, from: $1) } }

  /// Removes registrations, and says how many; they are let go outside of the lock, as a target may die
  /// of it.
  @discardableResult
  private func end(_ remove: (inout Registrations, TargetList) -> [Registration]) -> Int {
    change(remove).count
  }

  /// Changes the registrations; deliveries that begin after this see the change.
  func change<Result>(_ body: (inout Registrations, TargetList) -> Result) -> Result {
    let (result, old) = registrations.withLockInPlace { registrations in
      // Withdrawn first: a delivery that takes the old list has noted itself by now.
      let old = targetList.withdraw()
      return (body(&registrations, targetList), old)
    }
    targetList.retire(old)
    return result
  }

  // MARK: Steps of forwarding

  open override func responds(to selector: Selector) -> Bool {
    if super.responds(to: selector) { return true }
    return targets.contains { Introspection.responds($0, to: selector) }
  }

  open override func conforms(to description: ProtocolDescription) -> Bool {
    if super.conforms(to: description) { return true }
    return targets.contains { Introspection.conforms($0, to: description) }
  }

  open override func methodSignature(for selector: Selector) -> MethodSignature? {
    if let own = super.methodSignature(for: selector) { return own }
    // The targets, not their registrations: code of a target's may wait for the end of one.
    for target in targets {
      if let signature = Introspection.signature(of: target, for: selector) { return signature }
    }
    return nil
  }

  /// Every invocation fits: each target's method is compared on its own, and a message that no
  /// target knows is one that nobody answers.
  open override func match(_ invocation: Invocation, _ selector: Selector) -> InvocationMatch {
    .fits
  }

  /// Delivers the invocation to all targets. If some threw, all others are called first; then the
  /// first error is thrown.
  open override func forward(_ invocation: Invocation) throws {
    try forward(invocation.call)
  }

  /// Delivers the invocation to all targets, one after the other, and awaits each. If some threw, all others
  /// are called first; then the first error is thrown.
  open override nonisolated(nonsending) func forwardAwaiting(
    _ invocation: Invocation
  ) async throws {
    try await sendAwaiting(invocation, .sequential)
  }

  /// Answers a message that is awaited, and that no target answers.
  nonisolated(nonsending) func answerForTargetsAwaiting(
    _ invocation: Invocation, _ selector: Selector
  ) async throws -> Bool {
    try answerForTargets(invocation, selector)
  }

  /// Answers a message that no target answers; false if nobody does. A data source overrides it.
  func answerForTargets(_ invocation: Invocation, _ selector: Selector) throws -> Bool { false }
}

extension MulticastProxy: CallForwarding {
  package static var callForwardingClass: AnyClass { MulticastProxy.self }

  package func forward(_ call: Call) throws {
    let tally = try targetList.deliver(
      call, stopsAtFirst: endsAtFirst(call.returnsValue), for: self)
    if let tally { try conclude(call, tally) }
  }
}
