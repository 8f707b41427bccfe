// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// Inspects the executor of the current thread.
package enum CurrentExecutor {
  /// Whether the current thread runs on an actor's executor. Asks the runtime, and never traps.
  package static func isThat(of actor: any Actor) -> Bool {
    // SAFETY: an executor is two words, which the runtime passes like this. The actor retains its
    // executor.
    unsafe fwd_is_current_executor(
      unsafeBitCast(actor.unownedExecutor, to: FWDExecutor.self))
  }

  /// Whether the current thread runs a task.
  package static var isInTask: Bool {
    // SAFETY: the task is only compared with nil.
    unsafe withUnsafeCurrentTask { task in unsafe task != nil }
  }
}
