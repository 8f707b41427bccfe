import Dispatch
import Invocations

extension MulticastProxy {
  /// Removes a registration and waits until no thread can still begin, or be inside of, one of its
  /// messages; false if it was gone.
  ///
  /// Waits for the end of all deliveries that have the target in their list. Inside of a delivery that could be a wait
  /// for itself, and in a queue that a blocking delivery of the proxy waits for, a wait in a circle. A delivery that is
  /// awaited may need the actor of the caller to come to its end, so on the main actor, and in any task, nothing waits
  /// for it. There it throws ``ForwardingError/wouldDeadlock``, and removes nothing; the method of the same name that is
  /// awaited holds no actor. A once-only registration that was given its message is gone already.
  ///
  /// - Important: Not for a child process that was made by `fork` while another thread of its parent delivered to the
  ///   target: that delivery never ends. ``remove(_:)-(Token)`` waits for nothing.
  @discardableResult
  public func removeAndWait(_ token: Token) throws(ForwardingError) -> Bool {
    try removeAndWait { registrations in registrations.find(token).map { [$0] } ?? [] } > 0
  }

  /// Removes all registrations of a target and waits in the same way; returns how many there were.
  @discardableResult
  public func removeAndWait(_ target: AnyObject) throws(ForwardingError) -> Int {
    let target = ObjectIdentifier(target)
    return try removeAndWait { $0.all(of: target) }
  }

  /// Removes a registration and awaits the end of its messages; false if it was gone.
  ///
  /// The actor of the caller goes on meanwhile, so messages that need it come to their ends. A cancelled task waits all
  /// the same. Throws ``ForwardingError/wouldDeadlock`` inside of a message that is awaited, and removes nothing then.
  @discardableResult
  public nonisolated(nonsending) func removeAndWait(
    _ token: Token
  ) async throws(ForwardingError) -> Bool {
    try await removeAndAwait { registrations in registrations.find(token).map { [$0] } ?? [] } > 0
  }

  /// Removes all registrations of a target and awaits the ends of its messages; returns how many there were.
  @discardableResult
  public nonisolated(nonsending) func removeAndWait(
    _ target: AnyObject
  ) async throws(ForwardingError) -> Int {
    let target = ObjectIdentifier(target)
    return try await removeAndAwait { $0.all(of: target) }
  }

  private nonisolated(nonsending) func removeAndAwait(
    _ find: (Registrations) -> [Registration]
  ) async throws(ForwardingError) -> Int {
    guard !AwaitedStep.isInside else { throw .wouldDeadlock }
    let ends = remove(find) ?? []
    for end in ends { await end.isLeft() }
    return ends.count
  }

  /// Removes the registrations that are found, unless that is nil. They are let go outside of the lock, and before the
  /// wait, which is for their last references.
  private func remove(_ find: (Registrations) -> [Registration]?) -> [DispatchGroup]? {
    change { registrations, list -> [(registration: Registration, end: DispatchGroup)]? in
      find(registrations).map { found in
        registrations.remove(found, from: list).map { ($0, $0.end) }
      }
    }?.map(\.end)
  }

  private func removeAndWait(
    _ find: (Registrations) -> [Registration]
  ) throws(ForwardingError) -> Int {
    guard !ForwardingDepth.isInside, !AwaitedStep.isInside, !BlockingChain.isInside,
      let count = wait(in: QueueMark.current[...], mayHoldActor: Isolation.mayHoldActor, find)
    else { throw .wouldDeadlock }
    return count
  }

  /// Removes and waits; returns nil where one of these queues is waited for, or the actor that this may be.
  private func wait(
    in queues: ArraySlice<QueueMark>, mayHoldActor: Bool,
    _ find: (Registrations) -> [Registration]
  ) -> Int? {
    if let queue = queues.first {
      return queue.inside(of: self) {
        wait(in: queues.dropFirst(), mayHoldActor: mayHoldActor, find)
      } ?? nil
    }
    let ends = remove { registrations in
      let found = find(registrations)
      return mayHoldActor && found.contains(where: targetList.isAwaited) ? nil : found
    }
    // The last delivery that has them in its list lets go of them when it ends.
    for end in ends ?? [] { end.wait() }
    return ends?.count
  }
}

extension DispatchGroup {
  fileprivate nonisolated(nonsending) func isLeft() async {
    await withCheckedContinuation { continuation in
      notify(queue: .global(qos: .userInitiated)) { continuation.resume() }
    }
  }
}
