// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

extension MulticastProxy {
  /// Removes a registration, and waits until no thread can begin, or be inside, one of its
  /// messages.
  ///
  /// The function waits for the end of all deliveries that have the target in their list. It throws
  /// an error inside a delivery, where that could be a wait for itself, and in a queue that a
  /// blocking delivery of the proxy waits for, where the wait would be circular. A delivery that is
  /// awaited, or an async method on a lane, may need the caller's actor or queue to end, so on the
  /// main actor, in any task, and in a queue that is the lane of a target, the function throws if
  /// such a delivery may have the target. The async method of the same name does not occupy them. A
  /// once-only registration that has got its message is already removed.
  ///
  /// - Returns: false if the registration was removed before.
  /// - Throws: ``ForwardingError/wouldDeadlock`` in these cases; nothing is removed then.
  ///
  /// - Important: Do not call it in a child process that was created by `fork` while another thread
  ///   of the parent delivered to the target: that delivery never ends. ``remove(_:)-(Token)`` does
  ///   not wait.
  @discardableResult
  public func removeAndWait(_ token: Token) throws(ForwardingError) -> Bool {
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
  /// waits.
  ///
  /// - Returns: false if the registration was removed before.
  /// - Throws: ``ForwardingError/wouldDeadlock`` inside a message that is awaited; nothing is
  ///   removed.
  @discardableResult
  public nonisolated(nonsending) func removeAndWait(
    _ token: Token
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
    guard !AwaitedStep.isInside else { throw .wouldDeadlock }
    let ends = remove(find) ?? []
    for end in ends { await end.isLeft() }
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

  private func removeAndWait(
    _ find: (Registrations) -> [Registration]
  ) throws(ForwardingError) -> Int {
    let queues = QueueMark.current
    guard !ForwardingDepth.isInside, !AwaitedStep.isInside, !BlockingChain.isInside,
      let count = wait(
        in: queues[...], mayBeNeeded: Isolation.mayHoldActor || !queues.isEmpty, find)
    else { throw .wouldDeadlock }
    return count
  }

  /// Removes and waits; nil if a delivery waits for one of these queues, or may need the actor or
  /// the queue of the caller.
  private func wait(
    in queues: ArraySlice<QueueMark>, mayBeNeeded: Bool,
    _ find: (Registrations) -> [Registration]
  ) -> Int? {
    if let queue = queues.first {
      return queue.inside(of: self) {
        wait(in: queues.dropFirst(), mayBeNeeded: mayBeNeeded, find)
      } ?? nil
    }
    let ends = remove { registrations in
      let found = find(registrations)
      guard mayBeNeeded else { return found }
      return found.contains { targetList.isAwaited($0) || $0.suspended > 0 } ? nil : found
    }
    // The last delivery that has them in its list releases them at its end.
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
