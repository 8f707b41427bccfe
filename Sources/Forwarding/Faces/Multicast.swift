/// Many objects of one protocol, and an object of the protocol that speaks to all of them.
///
/// ```
/// let delegates = Multicast<ChatDelegateProxy>()
/// delegates.add(screen)                        // weak; nothing but a ChatDelegate compiles
/// delegates.add(logger, on: .queue(background))
/// session.delegate = delegates.face            // for any API that takes a ChatDelegate
/// delegates.face.chat(chat, didReceive: text)  // everyone is told, in order
/// ```
///
/// Only objects of the protocol can be added:
///
/// ```swift
/// func both<Face: ForwardingFace>(_ one: Face.__Target, _ other: Face.__Target) -> Multicast<Face> {
///   let both = Multicast<Face>()
///   both.add(one)
///   both.add(other, priority: 1)
///   return both
/// }
/// ```
///
/// A ``MulticastProxy`` is behind it, with the same rules.
public class Multicast<Face: ForwardingFace> {
  private let forwarder: MulticastProxy
  /// The object of the protocol. It keeps the proxy, so it may outlive this.
  public final let face: Face

  /// Makes one that has no targets yet, in front of a proxy.
  public init(_ proxy: MulticastProxy = MulticastProxy()) {
    forwarder = proxy
    face = Face(forwardingTo: proxy)
  }

  /// The proxy that delivers. It may have other targets as well, which answer the same selectors.
  public var proxy: MulticastProxy { forwarder }

  // MARK: Settings

  /// What happens to a target that is added again.
  public final var duplicateRule: MulticastProxy.DuplicateRule {
    get { proxy.duplicateRule }
    set { proxy.duplicateRule = newValue }
  }

  /// Which of several results the sender sees.
  public final var resultRule: MulticastProxy.ResultRule {
    get { proxy.resultRule }
    set { proxy.resultRule = newValue }
  }

  /// How many targets are expected; more are a diagnostic.
  public final var expectedTargets: Int {
    get { proxy.expectedTargets }
    set { proxy.expectedTargets = newValue }
  }

  /// Gets diagnostics, among them the errors that no requirement can throw.
  public final var onDiagnostic: (@Sendable (MulticastProxy.Diagnostic) -> Void)? {
    get { proxy.onDiagnostic }
    set { proxy.onDiagnostic = newValue }
  }

  // MARK: Adding

  /// Adds a target that gets its messages where they are sent, otherwise as
  /// ``MulticastProxy/add(_:strongly:on:priority:group:once:)`` does.
  @discardableResult
  public final func add(
    _ target: Face.__Target, strongly: Bool = false, priority: Int? = nil, group: String? = nil,
    once: Bool = false
  ) -> MulticastProxy.Token {
    add(
      unchecked: target, strongly: strongly, on: .caller, priority: priority, group: group,
      once: once)
  }

  /// Adds such a target for as long as the returned object lives.
  public final func scoped(
    _ target: Face.__Target, strongly: Bool = false, priority: Int? = nil
  ) -> ScopedRegistration {
    scoped(unchecked: target, strongly: strongly, on: .caller, priority: priority)
  }

  // MARK: Removing and blocking

  /// Removes a registration; false if it was gone.
  @discardableResult
  public final func remove(_ token: MulticastProxy.Token) -> Bool { proxy.remove(token) }

  /// Removes all registrations of a target, and says how many there were.
  @discardableResult
  public final func remove(_ target: Face.__Target) -> Int {
    Face.__known(target).map { proxy.remove($0) } ?? 0
  }

  /// Removes the registrations of a target with one queue or actor, or with the caller's thread.
  @discardableResult
  public final func remove(_ target: Face.__Target, on lane: DeliveryLane) -> Int {
    Face.__known(target).map { proxy.remove($0, on: lane) } ?? 0
  }

  /// Removes all registrations of a group.
  @discardableResult
  public final func removeGroup(_ group: String) -> Int { proxy.removeGroup(group) }

  /// Removes everything.
  @discardableResult
  public final func removeAll() -> Int { proxy.removeAll() }

  /// Removes a registration and waits for its messages to end; false if it was gone.
  @discardableResult
  public final func removeAndWait(_ token: MulticastProxy.Token) throws(ForwardingError) -> Bool {
    try proxy.removeAndWait(token)
  }

  /// Removes all registrations of a target and waits in the same way; returns how many there were.
  @discardableResult
  public final func removeAndWait(_ target: Face.__Target) throws(ForwardingError) -> Int {
    guard let object = Face.__known(target) else { return 0 }
    return try proxy.removeAndWait(object)
  }

  /// Removes a registration and awaits the end of its messages, while the actor of the caller goes on; false if it was
  /// gone.
  @discardableResult
  public final nonisolated(nonsending) func removeAndWait(
    _ token: MulticastProxy.Token
  ) async throws(ForwardingError) -> Bool {
    try await proxy.removeAndWait(token)
  }

  /// Removes all registrations of a target and awaits the ends of its messages; returns how many there were.
  @discardableResult
  public final nonisolated(nonsending) func removeAndWait(
    _ target: Face.__Target
  ) async throws(ForwardingError) -> Int {
    guard let object = Face.__known(target) else { return 0 }
    return try await proxy.removeAndWait(object)
  }

  /// Blocks a registration; it gets no messages until it is unblocked as often. False if it is gone.
  @discardableResult
  public final func block(_ token: MulticastProxy.Token) -> Bool { proxy.block(token) }

  /// Takes one block back; false if there was none, or the registration is gone.
  @discardableResult
  public final func unblock(_ token: MulticastProxy.Token) -> Bool { proxy.unblock(token) }

  // MARK: Looking

  /// Whether an object is registered.
  public final func contains(_ target: Face.__Target) -> Bool {
    Face.__known(target).map { proxy.contains($0) } ?? false
  }

  /// Whether a registration is there.
  public final func contains(_ token: MulticastProxy.Token) -> Bool { proxy.contains(token) }

  /// How many targets are alive, those that the proxy has of its own included.
  public final var count: Int { proxy.count }

  /// Whether no target is alive.
  public final var isEmpty: Bool { proxy.isEmpty }

  /// The targets that are alive and conform to the protocol, in the order of delivery. A face that was added is
  /// another one in front of the same proxy.
  public final var targets: [Face.__Target] {
    proxy.targets.compactMap { Face.__found($0) }
  }
}

// SAFETY: it has nothing but the proxy, which threads may share, and the face.
extension Multicast: @unchecked Sendable where Face: Sendable {}
