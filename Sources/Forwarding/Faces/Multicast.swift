// SPDX-License-Identifier: Apache-2.0
/// Many objects of one protocol, and an object of the protocol that forwards to all of them.
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
/// It wraps a ``MulticastProxy``, and follows its rules.
public class Multicast<Face: ForwardingFace> {
  private let forwarder: MulticastProxy
  /// The object of the protocol. It retains the proxy, so it may outlive this object.
  public final let face: Face

  /// Creates one without targets, in front of a proxy.
  public init(_ proxy: MulticastProxy = MulticastProxy()) {
    forwarder = proxy
    face = Face(forwardingTo: proxy)
  }

  /// The proxy that delivers. It may also have targets that were added to it directly, and answer
  /// the same selectors.
  public var proxy: MulticastProxy { forwarder }

  // MARK: Settings

  /// What happens when a target is added again.
  public final var duplicateRule: MulticastProxy.DuplicateRule {
    get { proxy.duplicateRule }
    set { proxy.duplicateRule = newValue }
  }

  /// Which of several results the sender gets.
  public final var resultRule: MulticastProxy.ResultRule {
    get { proxy.resultRule }
    set { proxy.resultRule = newValue }
  }

  /// What happens to the remaining targets when one throws.
  public final var errorRule: MulticastProxy.ErrorRule {
    get { proxy.errorRule }
    set { proxy.errorRule = newValue }
  }

  /// The number of targets that are expected; more are a diagnostic.
  public final var expectedTargets: Int {
    get { proxy.expectedTargets }
    set { proxy.expectedTargets = newValue }
  }

  /// Receives diagnostics, including the errors that a requirement cannot throw.
  public final var onDiagnostic: (@Sendable (MulticastProxy.Diagnostic) -> Void)? {
    get { proxy.onDiagnostic }
    set { proxy.onDiagnostic = newValue }
  }

  // MARK: Adding

  /// Adds a target that is called on the sender's thread. The other parameters are those of
  /// ``MulticastProxy/add(_:strongly:on:priority:group:once:)``.
  @discardableResult
  public final func add(
    _ target: Face.__Target, strongly: Bool = false, priority: Int? = nil, group: String? = nil,
    once: Bool = false
  ) -> MulticastProxy.Token {
    add(
      unchecked: target, strongly: strongly, on: .caller, priority: priority, group: group,
      once: once)
  }

  /// Adds a target, which is called on the sender's thread, for as long as the returned object
  /// lives.
  public final func scoped(
    _ target: Face.__Target, strongly: Bool = false, priority: Int? = nil
  ) -> ScopedRegistration {
    scoped(unchecked: target, strongly: strongly, on: .caller, priority: priority)
  }

  // MARK: Removing and blocking

  /// Removes a registration.
  ///
  /// - Returns: false if it was removed before.
  @discardableResult
  public final func remove(_ token: MulticastProxy.Token) -> Bool { proxy.remove(token) }

  /// Removes all registrations of a target.
  ///
  /// - Returns: the number of registrations removed.
  @discardableResult
  public final func remove(_ target: Face.__Target) -> Int {
    Face.__known(target).map { proxy.remove($0) } ?? 0
  }

  /// Removes the registrations of a target with one queue or actor, or with the caller's thread.
  ///
  /// - Returns: the number of registrations removed.
  @discardableResult
  public final func remove(_ target: Face.__Target, on lane: DeliveryLane) -> Int {
    Face.__known(target).map { proxy.remove($0, on: lane) } ?? 0
  }

  /// Removes all registrations of a group.
  ///
  /// - Returns: the number of registrations removed.
  @discardableResult
  public final func removeGroup(_ group: String) -> Int { proxy.removeGroup(group) }

  /// Removes all registrations.
  ///
  /// - Returns: the number of registrations removed.
  @discardableResult
  public final func removeAll() -> Int { proxy.removeAll() }

  /// Removes a registration, and waits until its messages have ended.
  ///
  /// - Returns: false if it was removed before.
  /// - Throws: ``ForwardingError/wouldDeadlock`` if the wait would never end; nothing is removed.
  @discardableResult
  public final func removeAndWait(_ token: MulticastProxy.Token) throws(ForwardingError) -> Bool {
    try proxy.removeAndWait(token)
  }

  /// Removes all registrations of a target, and waits until their messages have ended.
  ///
  /// - Returns: the number of registrations removed.
  /// - Throws: ``ForwardingError/wouldDeadlock`` if the wait would never end; nothing is removed.
  @discardableResult
  public final func removeAndWait(_ target: Face.__Target) throws(ForwardingError) -> Int {
    guard let object = Face.__known(target) else { return 0 }
    return try proxy.removeAndWait(object)
  }

  /// Removes a registration, and awaits the end of its messages without blocking the caller's
  /// actor.
  ///
  /// - Returns: false if it was removed before.
  /// - Throws: ``ForwardingError/wouldDeadlock`` inside a message that is awaited; nothing is
  ///   removed.
  @discardableResult
  public final nonisolated(nonsending) func removeAndWait(
    _ token: MulticastProxy.Token
  ) async throws(ForwardingError) -> Bool {
    try await proxy.removeAndWait(token)
  }

  /// Removes all registrations of a target, and awaits the end of their messages.
  ///
  /// - Returns: the number of registrations removed.
  /// - Throws: ``ForwardingError/wouldDeadlock`` inside a message that is awaited; nothing is
  ///   removed.
  @discardableResult
  public final nonisolated(nonsending) func removeAndWait(
    _ target: Face.__Target
  ) async throws(ForwardingError) -> Int {
    guard let object = Face.__known(target) else { return 0 }
    return try await proxy.removeAndWait(object)
  }

  /// Blocks a registration. It gets no messages until each block is undone.
  ///
  /// - Returns: false if the registration was removed.
  @discardableResult
  public final func block(_ token: MulticastProxy.Token) -> Bool { proxy.block(token) }

  /// Undoes one block of a registration.
  ///
  /// - Returns: false if it was not blocked, or was removed.
  @discardableResult
  public final func unblock(_ token: MulticastProxy.Token) -> Bool { proxy.unblock(token) }

  // MARK: Inspecting

  /// Whether an object is registered.
  public final func contains(_ target: Face.__Target) -> Bool {
    Face.__known(target).map { proxy.contains($0) } ?? false
  }

  /// Whether a registration exists.
  public final func contains(_ token: MulticastProxy.Token) -> Bool { proxy.contains(token) }

  /// The number of targets that are alive, including those that were added to the proxy directly.
  public final var count: Int { proxy.count }

  /// Whether no target is alive.
  public final var isEmpty: Bool { proxy.isEmpty }

  /// The targets that are alive and conform to the protocol, in the order of delivery. A face that
  /// was added as a target is returned as another face in front of the same proxy.
  public final var targets: [Face.__Target] {
    proxy.targets.compactMap { Face.__found($0) }
  }
}

// SAFETY: its stored properties are the proxy, which is thread-safe, and the face.
extension Multicast: @unchecked Sendable where Face: Sendable {}
