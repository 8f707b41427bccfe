import Invocations

/// The calls that are being performed, by what tells them apart, so that they can be cancelled.
final class OpenCalls: Sendable {
  private struct State {
    var calls: [RemoteRequest.Key: OpenCall] = [:]
    /// Calls that were cancelled and are not here: one that comes later than its end is one of them, as it comes
    /// another way. The others of a group have it.
    var early: Set<RemoteRequest.Key> = []
    /// A ring of the same keys.
    var order: [RemoteRequest.Key] = []
    var next = 0
  }

  /// How many are remembered that are not here.
  private static let count = 256

  private let state = Guarded(State())

  /// Notes a call. It is cancelled if that was said before.
  func begin(_ call: OpenCall, _ key: RemoteRequest.Key) {
    let (old, isCancelled) = state.withLockInPlace { state in
      let old = state.calls.updateValue(call, forKey: key)
      return (old, !state.early.isEmpty && state.early.contains(key))
    }
    if isCancelled { call.cancel() }
    withExtendedLifetime(old) {}
  }

  func end(_ key: RemoteRequest.Key) {
    let old = state.withLockInPlace { $0.calls.removeValue(forKey: key) }
    withExtendedLifetime(old) {}
  }

  /// Cancels a call, now or when it comes.
  func cancel(_ key: RemoteRequest.Key) {
    let call: OpenCall? = state.withLockInPlace { state in
      if let call = state.calls[key] { return call }
      guard state.early.insert(key).inserted else { return nil }
      if state.order.count < Self.count {
        state.order.append(key)
      } else {
        state.early.remove(state.order[state.next])
        state.order[state.next] = key
        state.next = (state.next + 1) % Self.count
      }
      return nil
    }
    call?.cancel()
  }
}
