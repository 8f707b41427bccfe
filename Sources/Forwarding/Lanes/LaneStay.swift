// SPDX-License-Identifier: Apache-2.0
package import Invocations

/// The time that a message spends in lanes, as the keeper of its invocation.
///
/// A sender that no longer waits leaves the message in its lane, with its arguments, until the lane
/// comes to it. A host counts such a message for as long as that: otherwise a peer could fill the
/// memory with calls that have expired.
package final class LaneStay: Sendable {
  private struct State {
    var jobs = 0
    var whenOver: (@Sendable () -> Void)?
  }

  private let state = Guarded(State())

  package init() {}

  /// Makes this the stay of a message that is not sent yet.
  package func follow(_ invocation: Invocation) { invocation.setKeeper(self) }

  /// Notes that a lane has the message.
  func begin() { state.withLockInPlace { $0.jobs += 1 } }

  /// Notes that a lane has performed the message, or has dropped it.
  func end() {
    let body = state.withLockInPlace { state in
      state.jobs -= 1
      return state.jobs == 0 ? state.whenOver.take() : nil
    }
    body?()
  }

  /// Calls a closure once, when no lane has the message, or at once if none has it now.
  package func whenOver(_ body: @escaping @Sendable () -> Void) {
    let isOver = state.withLockInPlace { state in
      if state.jobs > 0 { state.whenOver = body }
      return state.jobs == 0
    }
    if isOver { body() }
  }
}
