// SPDX-License-Identifier: Apache-2.0
import Invocations

/// The calls that a host performs in tasks, told ones too. Each task ends with its method, and is
/// cancelled when its time is over, when the connection ends by which the call came, or, if the
/// caller waits, when it no longer does.
///
/// A cancel that arrives before its call, as a server may deliver them on different ways, has no
/// effect: the call goes on to its deadline.
final class InFlightCalls: Sendable {
  private let calls = Guarded<[ObjectIdentifier: InFlightCall]>([:])

  func begin(_ call: InFlightCall) {
    calls.withLockInPlace { $0[ObjectIdentifier(call)] = call }
  }

  /// Forgets a call. The caller retains it.
  func end(_ call: InFlightCall) {
    call.end()
    _ = calls.withLockInPlace { $0.removeValue(forKey: ObjectIdentifier(call)) }
  }

  /// Cancels calls. A host that exposes several objects for one message has several of one key.
  func cancel(where isMeant: (InFlightCall) -> Bool) {
    for call in calls.read({ Array($0.values) }) where isMeant(call) { call.cancel() }
  }
}

/// A call in progress. It may be cancelled, or may end, before its task is known here.
final class InFlightCall: Sendable {
  private enum State {
    case beginning, cancelled, ended
    case running(Task<Void, Never>)
  }

  let key: RemoteRequest.Key
  /// The connection by which it arrived; nil if that is not known.
  let connection: ObjectIdentifier?
  private let state = Guarded(State.beginning)

  init(_ key: RemoteRequest.Key, _ connection: ObjectIdentifier?) {
    self.key = key
    self.connection = connection
  }

  func begin(_ task: Task<Void, Never>) {
    let isCancelled = state.withLockInPlace { state in
      switch state {
      case .beginning: state = .running(task)
      case .cancelled: return true
      case .running, .ended: break
      }
      return false
    }
    if isCancelled { task.cancel() }
  }

  func cancel() {
    let task: Task<Void, Never>? = state.withLockInPlace { state in
      if case .running(let task) = state { return task }
      if case .beginning = state { state = .cancelled }
      return nil
    }
    task?.cancel()
  }

  /// Forgets the task, which refers to this.
  fileprivate func end() { state.withLock { $0 = .ended } }
}
