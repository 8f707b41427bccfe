import CForwardingShims

/// Whether the current thread works for an actor.
package enum CurrentExecutor {
  /// Asks the runtime; nothing traps, whatever the answer is.
  package static func isThat(of actor: any Actor) -> Bool {
    // SAFETY: two words, as the runtime passes them; the actor keeps its executor.
    unsafe fwd_is_current_executor(
      unsafeBitCast(actor.unownedExecutor, to: FWDExecutor.self))
  }

  /// Whether the current thread works for a task.
  package static var isInTask: Bool {
    // SAFETY: it is asked for, and not kept.
    unsafe withUnsafeCurrentTask { task in unsafe task != nil }
  }
}
