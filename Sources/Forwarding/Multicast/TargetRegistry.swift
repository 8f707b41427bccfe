// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

/// What a ``Multicast`` and a ``MulticastProxy`` have in common: registrations of targets, and rules for
/// their answers.
///
/// ```swift
/// func clear(_ registry: some TargetRegistry) {
///   if !registry.isEmpty { registry.removeAll() }
/// }
/// ```
public protocol TargetRegistry: AnyObject {
  /// What has the registrations.
  var _registry: _Registry { get }
}

/// The registrations of a ``TargetRegistry``. Its contents are not public: any thread may use the proxy,
/// and the targets may be for one thread.
public struct _Registry {
  let proxy: MulticastProxy
  /// Whether a target that is a proxy is registered as what it forwards to.
  var isTyped = false

  /// The key of a target among the registrations.
  func key(of target: AnyObject) -> ObjectIdentifier {
    ObjectIdentifier(isTyped ? RegisteredTarget.receiver(target) : target)
  }
}

// MARK: Rules

extension TargetRegistry {
  /// What happens when a target is added again. The initial value is ``DuplicateRule/ignore``.
  public var duplicateRule: DuplicateRule {
    get { _registry.proxy.registrations.read { $0.settings.duplicates } }
    set { _registry.proxy.registrations.withLock { $0.settings.duplicates = newValue } }
  }

  /// Which of several results the sender gets. The initial value is ``ResultRule/last``.
  public var resultRule: ResultRule {
    get { _registry.proxy.targetList.stopsAtFirstResult ? .first : .last }
    set { _registry.proxy.targetList.stopsAtFirstResult = newValue == .first }
  }

  /// What happens to the remaining targets when one throws, or cannot be called. The initial value
  /// is ``ErrorRule/afterAll``. An error on a queue that the sender does not wait for ends nothing,
  /// and so does one in a delivery to all targets at once.
  public var errorRule: ErrorRule {
    get { _registry.proxy.targetList.stopsAtFirstError ? .atOnce : .afterAll }
    set { _registry.proxy.targetList.stopsAtFirstError = newValue == .atOnce }
  }

  /// What a sender gets when no target answers. Initially ``UnansweredRule/throwForResults``.
  public var whenNobodyAnswers: UnansweredRule {
    get { _registry.proxy.registrations.read { $0.settings.whenUnanswered } }
    set {
      _registry.proxy.registrations.withLock { $0.settings.whenUnanswered = newValue }
      _registry.proxy.targetList.tellsUnanswered = true
    }
  }

  /// Receives diagnostics, on the thread where they arise, including the errors that a requirement
  /// cannot throw. No lock is held during the call.
  public var onDiagnostic: (@Sendable (DeliveryDiagnostic) -> Void)? {
    get { _registry.proxy.registrations.read { $0.settings.diagnose } }
    set {
      _registry.proxy.registrations.withLock { $0.settings.diagnose = newValue }
      _registry.proxy.targetList.tellsUnanswered = true
    }
  }
}

// MARK: Looking

extension TargetRegistry {
  /// Whether an object is registered.
  public func contains(_ target: AnyObject) -> Bool {
    let target = _registry.key(of: target)
    return _registry.proxy.registrations.withLockInPlace { $0.contains(target) }
  }

  /// Whether a registration exists.
  package func contains(_ token: ForwardingToken) -> Bool {
    _registry.proxy.withRegistration(token) { _ in } != nil
  }

  /// The number of targets that are alive.
  ///
  /// - Complexity: O(*n*) for *n* registrations.
  public var count: Int { _registry.proxy.snapshot.count { $0.object != nil } }

  /// Whether no target is alive.
  public var isEmpty: Bool { count == 0 }
}

// MARK: Suspending

extension TargetRegistry {
  /// Suspends a registration: its target gets no message, and is not called, until each suspension
  /// is undone. A message that is already on its way to a queue arrives.
  ///
  /// - Returns: false if the registration was removed.
  @discardableResult
  public func suspend(_ token: ForwardingToken) -> Bool {
    _registry.proxy.withRegistration(token) { $0.block() } != nil
  }

  /// Undoes one suspension of a registration.
  ///
  /// - Returns: false if it was not suspended, or was removed.
  @discardableResult
  public func resume(_ token: ForwardingToken) -> Bool {
    _registry.proxy.withRegistration(token) { $0.unblock() } ?? false
  }
}

// MARK: Removing

extension TargetRegistry {
  /// Removes a registration; returns false if it was removed before. No delivery takes the target
  /// after that, but one on another thread that has just taken it may still begin its method:
  /// `removeAndWait(_:)` waits for it.
  @discardableResult
  public func remove(_ token: ForwardingToken) -> Bool {
    _registry.proxy.end { $0.remove(token, from: $1) } > 0
  }

  /// Removes all registrations of an object, and returns their number. A structure or an enumeration
  /// is removed by its token.
  @discardableResult
  public func remove(_ target: AnyObject) -> Int {
    let target = _registry.key(of: target)
    return _registry.proxy.end { $0.remove(of: target, from: $1) }
  }

  /// Removes all registrations of a group, and returns their number.
  @discardableResult
  public func remove(group: String) -> Int {
    _registry.proxy.end { registrations, list in
      registrations.remove(from: list) { $0.wishes.group == group }
    }
  }

  /// Removes all registrations, and returns their number.
  @discardableResult
  public func removeAll() -> Int { _registry.proxy.end { $0.remove(from: $1) { _ in true } } }
}

// MARK: Removing and waiting

extension TargetRegistry {
  /// Removes a registration, and waits until no thread can begin, or be inside, one of its
  /// messages.
  ///
  /// The function waits for the end of all deliveries that have the target in their list. Where that
  /// could be a wait for itself it throws an error: inside a delivery, and on the queue of a blocking
  /// target of any proxy. A delivery that is awaited, or an async method on a lane, may need the
  /// caller's actor or queue to end, so on the main actor, in any task, and on the queue of a target,
  /// the function throws if such a delivery may have the target. The async method of the same name
  /// does not occupy them. A once-only registration that has got its message is already removed.
  ///
  /// - Returns: false if the registration was removed before.
  /// - Throws: ``ForwardingError/wouldDeadlock(_:)`` in these cases; nothing is removed then.
  @discardableResult
  public func removeAndWait(_ token: ForwardingToken) throws(ForwardingError) -> Bool {
    try _registry.proxy.removeAndWait(token.type.type) { $0.find(token).map { [$0] } ?? [] } > 0
  }

  /// Removes all registrations of a target, and waits until their messages have ended.
  ///
  /// - Returns: the number of registrations removed.
  /// - Throws: ``ForwardingError/wouldDeadlock(_:)`` if the wait might never end; nothing is removed.
  @discardableResult
  public func removeAndWait(_ target: AnyObject) throws(ForwardingError) -> Int {
    let receiver = _registry.key(of: target)
    return try _registry.proxy.removeAndWait(type(of: target)) { $0.all(of: receiver) }
  }

  /// Removes a registration, and awaits the end of its messages.
  ///
  /// The caller's actor is free meanwhile, so messages that need it can end. A cancelled task still
  /// waits. A task that the message has started, and does not await, may call this.
  ///
  /// - Returns: false if the registration was removed before.
  /// - Throws: ``ForwardingError/wouldDeadlock(_:)`` inside a message that is awaited; nothing is
  ///   removed.
  @discardableResult
  public nonisolated(nonsending) func removeAndWait(
    _ token: ForwardingToken
  ) async throws(ForwardingError) -> Bool {
    try await _registry.proxy.removeAndAwait(token.type.type) { $0.find(token).map { [$0] } ?? [] }
      > 0
  }

  /// Removes all registrations of a target, and awaits the end of their messages.
  ///
  /// - Returns: the number of registrations removed.
  /// - Throws: ``ForwardingError/wouldDeadlock(_:)`` inside a message that is awaited; nothing is
  ///   removed.
  @discardableResult
  public nonisolated(nonsending) func removeAndWait(
    _ target: AnyObject
  ) async throws(ForwardingError) -> Int {
    let receiver = _registry.key(of: target)
    return try await _registry.proxy.removeAndAwait(type(of: target)) { $0.all(of: receiver) }
  }
}

extension MulticastProxy {
  nonisolated(nonsending) func removeAndAwait(
    _ type: Any.Type, _ find: (Registrations) -> [Registration]
  ) async throws(ForwardingError) -> Int {
    guard AwaitedStep.current == nil, let ends = remove(find) else {
      throw .wouldDeadlock(.init(selector: nil, target: type))
    }
    for end in ends {
      await withCheckedContinuation { continuation in
        end.notify(queue: .global(qos: .userInitiated)) { continuation.resume() }
      }
    }
    return ends.count
  }

  func removeAndWait(
    _ type: Any.Type, _ find: (Registrations) -> [Registration]
  ) throws(ForwardingError) -> Int {
    let mayBeNeeded = Isolation.mayHoldActor || QueueMark.current != nil
    guard !ForwardingDepth.isInside, AwaitedStep.current == nil, !BlockingChain.isInside,
      !QueueMark.isWaitedFor,
      let ends = remove({ registrations in
        let found = find(registrations)
        guard mayBeNeeded else { return found }
        return found.contains { targetList.isAwaited($0) || $0.suspended > 0 } ? nil : found
      })
    else { throw .wouldDeadlock(.init(selector: nil, target: type)) }
    // The last delivery that has them in its list releases them at its end.
    for end in ends { end.wait() }
    return ends.count
  }

  /// Removes the registrations that `find` returns; nothing if it returns nil. They are released
  /// outside the lock, and before the wait, which ends with their last references.
  private func remove(_ find: (Registrations) -> [Registration]?) -> [DispatchGroup]? {
    change { registrations, list -> [(registration: Registration, end: DispatchGroup)]? in
      find(registrations).map { found in
        registrations.remove(found, from: list).map { ($0, $0.end) }
      }
    }?.map(\.end)
  }
}
