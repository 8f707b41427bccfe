// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

extension MulticastProxy {
  nonisolated(nonsending) func removeAndAwait(
    _ type: Any.Type, _ find: (Registrations) -> [Registration]
  ) async throws(ForwardingError) -> Int {
    guard !AwaitedStep.isInside, let ends = remove(find) else {
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
    guard !ForwardingDepth.isInside, !AwaitedStep.isInside, !BlockingChain.isInside,
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
