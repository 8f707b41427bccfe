// SPDX-License-Identifier: Apache-2.0
import Invocations

/// The calls in progress by their keys, so that they can be cancelled.
final class InFlightCalls: Sendable {
  private struct State {
    var calls: [RemoteRequest.Key: InFlightCall] = [:]
    /// The keys of cancelled calls that are not in progress here. A cancel may overtake its call,
    /// as the two have different subjects; or another member of the group has the call.
    var early: Set<RemoteRequest.Key> = []
    /// The same keys as a ring buffer.
    var order: [RemoteRequest.Key] = []
    var next = 0
  }

  /// The most keys that are remembered in this way.
  private static let count = 256

  private let state = Guarded(State())

  /// Records a call, and cancels it if its cancel has already arrived.
  func begin(_ call: InFlightCall, _ key: RemoteRequest.Key) {
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

  /// Cancels a call, now or when it arrives.
  func cancel(_ key: RemoteRequest.Key) {
    let call: InFlightCall? = state.withLockInPlace { state in
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

  /// Cancels the calls that came by a connection that has ended.
  func cancelAll(of connection: ObjectIdentifier) {
    let calls = state.withLockInPlace { state in
      state.calls.values.filter { $0.connection == connection }
    }
    for call in calls { call.cancel() }
  }
}
