// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

/// The calls that a host performs in tasks, told ones too. Each task ends with its method, and is
/// cancelled when its time is over, when the connection ends by which the call came, or, if the
/// caller waits, when it no longer does.
///
/// A cancel that arrives before its call, as a server may deliver them on different ways, has no
/// effect: the call goes on to its deadline.
final class InFlightCalls: Sendable {
  /// By key. A host that exposes several objects for one message performs several calls of one key.
  private let calls = Guarded<[RemoteRequest.Key: [InFlightCall]]>([:])

  func begin(_ call: InFlightCall) {
    calls.withLockInPlace { $0[call.key, default: []].append(call) }
  }

  /// Forgets a call. The caller retains it.
  func end(_ call: InFlightCall) {
    calls.withLockInPlace { calls in
      calls[call.key]?.removeAll { $0 === call }
      if calls[call.key]?.isEmpty == true { calls[call.key] = nil }
    }
  }

  func cancel(_ key: RemoteRequest.Key) {
    for call in calls.read({ $0[key] ?? [] }) { call.cancel() }
  }

  /// Cancels the calls that came by a connection that has ended.
  func cancelAll(of connection: ObjectIdentifier) {
    let all = calls.read { $0.values.joined().filter { $0.connection == connection } }
    for call in all { call.cancel() }
  }
}

/// A call in progress. Its task may be cancelled, or may end, before it is known here.
final class InFlightCall: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    /// The timer that cancels the task when its time is over.
    var timer: Deadlines.Number?
    var isCancelled = false
    var isLate = false
    var hasEnded = false
  }

  let key: RemoteRequest.Key
  /// The connection by which it arrived; nil if that is not known.
  let connection: ObjectIdentifier?
  private let state = Guarded(State())

  init(_ key: RemoteRequest.Key, _ connection: ObjectIdentifier?) {
    self.key = key
    self.connection = connection
  }

  /// Performs the call in a task, which is cancelled at `end`.
  func begin(until end: DispatchTime, _ perform: () -> Task<Void, Never>) {
    let timer = Deadlines.shared.add(at: end) { [self] in cancel(isLate: true) }
    state.withLockInPlace { $0.timer = timer }
    let task = perform()
    let isCancelled = state.withLockInPlace { state in
      if !state.hasEnded { state.task = task }
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  /// Cancels the task, now or once it is known.
  func cancel(isLate: Bool = false) {
    let task = state.withLockInPlace { state in
      state.isCancelled = true
      if isLate { state.isLate = true }
      return state.task
    }
    task?.cancel()
  }

  /// Marks the call as ended. Returns whether its time was over before that.
  func end() -> Bool {
    let before = state.withLock { state in
      let before = state
      state.hasEnded = true
      state.task = nil
      return before
    }
    if let timer = before.timer { Deadlines.shared.cancel(timer) }
    return before.isLate
  }
}
