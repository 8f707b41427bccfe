import Synchronization

/// A proxy that speaks to many: every message goes to all targets, in order.
///
/// ```swift
/// let everyone = MulticastProxy()
/// try everyone.add(screen)
/// try everyone.add(logger, on: .queue(background))
/// try Message<NoResult, Int32>("didSave:")(42, on: everyone)
/// ```
///
/// Targets are held weakly unless told otherwise. The list is a snapshot: a target that is removed
/// during a delivery and not yet reached is skipped, one that is added is not called this round.
/// Safe to use from many threads; no lock is held while a target runs.
open class MulticastProxy: ForwardingProxy, @unchecked Sendable {
  // SAFETY: all that changes is behind `members` and `settings`.

  /// Names a registration.
  public struct Token: Hashable, Sendable {
    let id: UInt64
  }

  /// What adding a target does that is there already, with the same queue.
  public enum DuplicateRule: Sendable {
    /// Nothing; the token of the first registration is given back.
    case ignore
    /// It is called twice.
    case allow
    /// It throws.
    case refuse
  }

  /// Which of several results the sender sees.
  public enum ResultRule: Sendable {
    /// Everyone is called; the last answer counts.
    case last
    /// The first answer counts and ends the delivery.
    case first
  }

  /// Something that is worth knowing, and is no error.
  public enum Diagnostic: Sendable {
    /// A target was found dead, and its registration removed.
    case deadTarget(Token)
    /// Nobody answered a message.
    case unanswered(Selector)
    /// There are more targets than the proxy was told to expect.
    case tooManyTargets(count: Int, limit: Int)
  }

  struct Settings: Sendable {
    var duplicates = DuplicateRule.ignore
    var unanswered = UnansweredRule.error
    var expectedTargets = Int.max
    var diagnose: (@Sendable (Diagnostic) -> Void)?
  }

  private struct Members {
    var list: [MulticastMember] = []
    var lastID: UInt64 = 0
    /// The registrations of each target with each queue, so that adding stays quick with many.
    var byKey: [MulticastMember.Key: [Token]] = [:]

    mutating func insert(_ member: MulticastMember) {
      byKey[member.key, default: []].append(member.token)
      if let last = list.last, last.priority < member.priority {
        let index = list.firstIndex { $0.priority < member.priority } ?? list.endIndex
        list.insert(member, at: index)
      } else {
        list.append(member)
      }
    }

    mutating func remove(where matches: (MulticastMember) -> Bool) -> [MulticastMember] {
      let gone = list.filter(matches)
      guard !gone.isEmpty else { return [] }
      list.removeAll(where: matches)
      for member in gone {
        byKey[member.key]?.removeAll { $0 == member.token }
        if byKey[member.key]?.isEmpty ?? false { byKey[member.key] = nil }
        member.listed.markRemoved()
      }
      return gone
    }
  }

  private let members = Guarded(Members())
  private let settings = Guarded(Settings())
  private let stopsAtFirst = Atomic(false)
  /// What deliveries see of `members`. It also stands for a delivery of this proxy among the
  /// forwarding steps of a thread.
  let targetList = TargetList()

  // MARK: Settings

  /// What adding a target does that is there already. ``DuplicateRule/ignore`` at first.
  public var duplicates: DuplicateRule {
    get { settings.read { $0.duplicates } }
    set { settings.withLock { $0.duplicates = newValue } }
  }

  /// Which of several results the sender sees. ``ResultRule/last`` at first.
  public var results: ResultRule {
    get { stopsAtFirst.load(ordering: .acquiring) ? .first : .last }
    set { stopsAtFirst.store(newValue == .first, ordering: .releasing) }
  }

  /// What a sender gets when nobody answers. ``UnansweredRule/error`` at first.
  public var whenNobodyAnswers: UnansweredRule {
    get { settings.read { $0.unanswered } }
    set { settings.withLock { $0.unanswered = newValue } }
  }

  /// How many targets are expected; more are a ``Diagnostic/tooManyTargets(count:limit:)``.
  public var expectedTargets: Int {
    get { settings.read { $0.expectedTargets } }
    set { settings.withLock { $0.expectedTargets = newValue } }
  }

  /// Gets diagnostics, on whatever thread they come up; no lock is held then.
  public var onDiagnostic: (@Sendable (Diagnostic) -> Void)? {
    get { settings.read { $0.diagnose } }
    set { settings.withLock { $0.diagnose = newValue } }
  }

  func diagnose(_ diagnostic: Diagnostic) { onDiagnostic?(diagnostic) }

  // MARK: Adding

  /// Adds a target, behind those of the same or a higher priority.
  ///
  /// - Parameters:
  ///   - strongly: whether the target is kept alive.
  ///   - lane: on which thread it gets its messages.
  ///   - priority: higher ones are called first.
  ///   - group: a name, to remove several at once.
  ///   - once: whether the registration ends with its first message.
  @discardableResult
  public func add(
    _ target: AnyObject, strongly: Bool = false, on lane: DeliveryLane = .caller,
    priority: Int = 0, group: String? = nil, once: Bool = false
  ) throws(ForwardingError) -> Token {
    if target === self { throw .ownTarget }
    switch lane.kind {
    case .queue(let queue, _), .blocking(let queue, _): QueueMark.mark(queue)
    case .caller, .actor, .executor: break
    }
    let settings = settings.read { $0 }
    let reference = ObjectReference(target, isStrong: strongly)
    let (token, count) = change { members -> (Token?, Int) in
      let key = MulticastMember.Key(target: reference.identity, lane: lane.identity)
      if settings.duplicates != .allow, let same = members.byKey[key]?.first {
        return (settings.duplicates == .ignore ? same : nil, members.list.count)
      }
      members.lastID += 1
      let token = Token(id: members.lastID)
      let member = MulticastMember(
        token: token, reference: reference, lane: lane, priority: priority, group: group,
        isOnce: once)
      members.insert(member)
      return (token, members.list.count)
    }
    guard let token else { throw .duplicateTarget(className: "\(type(of: target))") }
    if count > settings.expectedTargets {
      diagnose(.tooManyTargets(count: count, limit: settings.expectedTargets))
    }
    return token
  }

  /// Adds a target for as long as the object that is given back lives.
  public func scoped(
    _ target: AnyObject, strongly: Bool = false, on lane: DeliveryLane = .caller,
    priority: Int = 0
  ) throws(ForwardingError) -> ScopedRegistration {
    let token = try add(target, strongly: strongly, on: lane, priority: priority)
    return ScopedRegistration(proxy: self, token: token)
  }

  // MARK: Removing

  /// Removes a registration; false if it was gone. When this returns, no message that has not
  /// begun will reach the target through it.
  @discardableResult
  public func remove(_ token: Token) -> Bool {
    remove { $0.token == token } > 0
  }

  /// Removes all registrations of a target, and says how many there were.
  @discardableResult
  public func remove(_ target: AnyObject) -> Int {
    let identity = ObjectIdentifier(target)
    return remove { $0.reference.identity == identity }
  }

  /// Removes the registrations of a target with one queue or actor, or with the caller's thread.
  @discardableResult
  public func remove(_ target: AnyObject, on lane: DeliveryLane) -> Int {
    let identity = ObjectIdentifier(target)
    let key = MulticastMember.Key(target: identity, lane: lane.identity)
    return remove { $0.key == key }
  }

  /// Removes all registrations of a group.
  @discardableResult
  public func removeGroup(_ group: String) -> Int { remove { $0.group == group } }

  /// Removes everything.
  @discardableResult
  public func removeAll() -> Int { remove { _ in true } }

  @discardableResult
  func remove(where matches: (MulticastMember) -> Bool) -> Int {
    take(where: matches).count
  }

  /// Removes registrations and gives them to the caller, who lets them go outside of the lock: a
  /// target may die of it.
  func take(where matches: (MulticastMember) -> Bool) -> [MulticastMember] {
    change { $0.remove(where: matches) }
  }

  /// Changes the registrations; deliveries that begin after this see what it left.
  private func change<Result>(_ body: (inout Members) -> Result) -> Result {
    let (result, old) = members.withLockInPlace { members in
      (body(&members), targetList.withdraw())
    }
    old.retire()
    return result
  }

  // MARK: Blocking

  /// Blocks a registration; it gets no messages until it is unblocked as often. False if it is gone.
  @discardableResult
  public func block(_ token: Token) -> Bool {
    guard let member = member(token) else { return false }
    member.listed.block()
    return true
  }

  /// Takes one block back; false if there was none, or the registration is gone.
  @discardableResult
  public func unblock(_ token: Token) -> Bool { member(token)?.listed.unblock() ?? false }

  private func member(_ token: Token) -> MulticastMember? {
    snapshot.first { $0.token == token }
  }

  // MARK: Looking

  /// The registrations as they are now.
  var snapshot: [MulticastMember] { members.read { $0.list } }

  /// Looks at the registrations while nobody changes them.
  func withMembers(_ body: ([MulticastMember]) -> Void) { members.read { body($0.list) } }

  /// How many registrations there are, those of dead targets that nobody met yet included.
  public var registrationCount: Int { snapshot.count }

  /// How many targets are alive.
  public var count: Int { snapshot.count { $0.reference.object != nil } }

  /// Whether no target is alive.
  public var isEmpty: Bool { count == 0 }

  /// The targets that are alive, in the order of delivery.
  public var targets: [AnyObject] { snapshot.compactMap(\.reference.object) }

  /// Whether an object is registered.
  public func contains(_ target: AnyObject) -> Bool {
    let identity = ObjectIdentifier(target)
    return snapshot.contains { $0.reference.identity == identity }
  }

  /// Whether a registration is there.
  public func contains(_ token: Token) -> Bool { member(token) != nil }

  /// The targets of a class.
  public func targets<Target: AnyObject>(of type: Target.Type) -> [Target] {
    targets.compactMap { $0 as? Target }
  }

  /// The targets that answer a selector.
  public func targets(respondingTo selector: Selector) -> [AnyObject] {
    targets.filter { Messaging.responds($0, to: selector) }
  }

  // MARK: Steps of forwarding

  open override func responds(to selector: Selector) -> Bool {
    if super.responds(to: selector) { return true }
    // Proxies may hold each other: who is asking already has no more to say.
    return ForwardingDepth.asking(self, ifAskedAlready: false) {
      targets.contains { Messaging.responds($0, to: selector) }
    }
  }

  open override func conforms(to description: ProtocolDescription) -> Bool {
    if super.conforms(to: description) { return true }
    return ForwardingDepth.asking(self, ifAskedAlready: false) {
      targets.contains { Messaging.conforms($0, to: description) }
    }
  }

  open override func methodSignature(for selector: Selector) -> MethodSignature? {
    if let own = super.methodSignature(for: selector) { return own }
    return ForwardingDepth.asking(self, ifAskedAlready: nil) {
      for target in targets {
        if let signature = Messaging.signature(of: target, for: selector) { return signature }
      }
      return nil
    }
  }

  /// Any invocation is taken: each target's method is compared on its own, and a message that
  /// nobody knows is one that nobody answers.
  open override func match(_ invocation: Invocation, _ selector: Selector) -> InvocationMatch {
    .fits
  }

  /// Delivers the invocation to all targets. If some threw, all others are called first; then the
  /// first error is thrown.
  open override func forward(_ invocation: Invocation) throws {
    try forward(invocation.lent)
  }

  func answerIfNobodyDid(_ tally: TargetList.Tally, _ call: LentCall) throws {
    guard tally.answered == 0, tally.queued == 0 else { return }
    let selector = call.selector
    if let selector { diagnose(.unanswered(selector)) }
    switch whenNobodyAnswers {
    case .zero: call.answerWithZero()
    case .error:
      guard call.returnsValue else { return }
      throw ForwardingError.nobodyAnswered(selector: selector?.name ?? "")
    }
  }
}

extension MulticastProxy: CallForwarding {
  package static var callForwardingClass: AnyClass { MulticastProxy.self }

  package func forward(_ call: LentCall) throws {
    try targetList.forward(call, stopsAtFirst: results == .first, for: self)
  }
}

/// A registration that ends with this object.
public final class ScopedRegistration: Sendable {
  private let proxy: MulticastProxy
  /// The registration.
  public let token: MulticastProxy.Token

  init(proxy: MulticastProxy, token: MulticastProxy.Token) {
    self.proxy = proxy
    self.token = token
  }

  deinit { proxy.remove(token) }
}
