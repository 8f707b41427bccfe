// SPDX-License-Identifier: Apache-2.0
import Invocations

/// The calls in progress by their keys, so that they can be cancelled. A host that exposes several
/// objects for one message performs several calls of one key.
final class InFlightCalls: Sendable {
  private struct State {
    var calls: [RemoteRequest.Key: [InFlightCall]] = [:]
    /// The keys of cancelled calls. A cancel may overtake its call, as the two have different
    /// subjects; or another member of the group has the call.
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
    let isCancelled = state.withLockInPlace { state in
      state.calls[key, default: []].append(call)
      return !state.early.isEmpty && state.early.contains(key)
    }
    if isCancelled { call.cancel() }
  }

  /// Forgets a call. The caller retains it.
  func end(_ call: InFlightCall, _ key: RemoteRequest.Key) {
    state.withLockInPlace { state in
      state.calls[key]?.removeAll { $0 === call }
      if state.calls[key]?.isEmpty == true { state.calls[key] = nil }
    }
  }

  /// Cancels the calls of a key, now or when they arrive.
  func cancel(_ key: RemoteRequest.Key) {
    let calls: [InFlightCall] = state.withLockInPlace { state in
      let calls = state.calls[key] ?? []
      // Another object of the host may get the call later.
      guard state.early.insert(key).inserted else { return calls }
      if state.order.count < Self.count {
        state.order.append(key)
      } else {
        state.early.remove(state.order[state.next])
        state.order[state.next] = key
        state.next = (state.next + 1) % Self.count
      }
      return calls
    }
    for call in calls { call.cancel() }
  }

  /// Cancels the calls that came by a connection that has ended.
  func cancelAll(of connection: ObjectIdentifier) {
    let calls = state.withLockInPlace { state in
      state.calls.values.joined().filter { $0.connection == connection }
    }
    for call in calls { call.cancel() }
  }
}
