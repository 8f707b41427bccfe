// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

extension MulticastProxy {
  /// Removes a registration, and waits until no thread can begin, or be inside, one of its
  /// messages.
  ///
  /// The function waits for the end of all deliveries that have the target in their list. Where that
  /// could be a wait for itself it throws an error: inside a delivery, and on the queue of a blocking
  /// lane of any proxy. A delivery that is awaited, or an async method on a lane, may need the
  /// caller's actor or queue to end, so on the main actor, in any task, and on the queue of a lane,
  /// the function throws if such a delivery may have the target. The async method of the same name
  /// does not occupy them. A once-only registration that has got its message is already removed.
  ///
  /// - Returns: false if the registration was removed before.
  /// - Throws: ``ForwardingError/wouldDeadlock`` in these cases; nothing is removed then.
  ///
  /// - Important: Do not call it in a child process that was created by `fork` while another thread
  ///   of the parent delivered to the target: that delivery never ends. ``remove(_:)-(ForwardingToken)`` does
  ///   not wait.
  @discardableResult
  public func removeAndWait(_ token: ForwardingToken) throws(ForwardingError) -> Bool {
    try removeAndWait { registrations in registrations.find(token).map { [$0] } ?? [] } > 0
  }

  /// Removes all registrations of a target, and waits until their messages have ended.
  ///
  /// - Returns: the number of registrations removed.
  /// - Throws: ``ForwardingError/wouldDeadlock`` if the wait might never end; nothing is removed.
  @discardableResult
  public func removeAndWait(_ target: AnyObject) throws(ForwardingError) -> Int {
    let target = ObjectIdentifier(target)
    return try removeAndWait { $0.all(of: target) }
  }

  /// Removes a registration, and awaits the end of its messages.
  ///
  /// The caller's actor is free meanwhile, so messages that need it can end. A cancelled task still
  /// waits. A task that the message has started, and does not await, may call this.
  ///
  /// - Returns: false if the registration was removed before.
  /// - Throws: ``ForwardingError/wouldDeadlock`` inside a message that is awaited; nothing is
  ///   removed.
  @discardableResult
  public nonisolated(nonsending) func removeAndWait(
    _ token: ForwardingToken
  ) async throws(ForwardingError) -> Bool {
    try await removeAndAwait { registrations in registrations.find(token).map { [$0] } ?? [] } > 0
  }

  /// Removes all registrations of a target, and awaits the end of their messages.
  ///
  /// - Returns: the number of registrations removed.
  /// - Throws: ``ForwardingError/wouldDeadlock`` inside a message that is awaited; nothing is
  ///   removed.
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
    guard !AwaitedStep.isInside, let ends = remove(find) else { throw .wouldDeadlock }
    for end in ends {
      await withCheckedContinuation { continuation in
        end.notify(queue: .global(qos: .userInitiated)) { continuation.resume() }
      }
    }
    return ends.count
  }

  private func removeAndWait(
    _ find: (Registrations) -> [Registration]
  ) throws(ForwardingError) -> Int {
    let mayBeNeeded = Isolation.mayHoldActor || QueueMark.current != nil
    guard !ForwardingDepth.isInside, !AwaitedStep.isInside, !BlockingChain.isInside,
      !QueueMark.isWaitedFor,
      let ends = remove({ registrations in
        let found = find(registrations)
        guard mayBeNeeded else { return found }
        return found.contains { targetList.isAwaited($0) || $0.suspended > 0 } ? nil : found
      })
    else { throw .wouldDeadlock }
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
