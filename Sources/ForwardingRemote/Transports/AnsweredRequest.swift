// SPDX-License-Identifier: Apache-2.0
import Invocations

/// A request that passes its answers to a closure until it ends.
final class AnsweredRequest: TransportSubscription {
  private struct State {
    var answered: (@Sendable (Result<[UInt8], TransportError>) -> Void)?
    var ended: (@Sendable (AnsweredRequest) -> Void)?
  }

  private let state: Guarded<State>

  init(_ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void) {
    state = Guarded(State(answered: answered))
  }

  /// Sets the closure that is called when the request ends, which must not have happened yet.
  func whenEnded(_ ended: @escaping @Sendable (AnsweredRequest) -> Void) {
    state.withLockInPlace { $0.ended = ended }
  }

  func take(_ answer: Result<[UInt8], TransportError>) { state.read { $0.answered }?(answer) }

  func end() {
    let before = state.withLock { state in
      defer { state = State() }
      return state
    }
    before.ended?(self)
  }
}
