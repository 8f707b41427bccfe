// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// Messages that no target answered.
///
/// A proxy without a target for a message throws an error. A target may throw the same error, for a
/// message that it has sent itself. So the proxy notes it in the call, and its sender looks there.
package enum UnansweredMessages {
  /// Whether the sender of a call has an answer where no target has one.
  package static func hasOtherwise(_ call: Call) -> Bool {
    unsafe call.state.pointee.has_otherwise != 0
  }

  /// Whether the sender of a call can throw no error.
  package static func cannotThrow(_ call: Call) -> Bool {
    unsafe call.state.pointee.cannot_throw != 0
  }

  /// Notes that no target answered a call.
  package static func note(_ call: Call) { unsafe call.state.pointee.is_unanswered = 1 }

  /// Whether no target answered a call that ended with an error. Removes the note.
  package static func take(_ call: Call, _ error: any Error) -> Bool {
    if error is NotImplemented { return true }
    defer { unsafe call.state.pointee.is_unanswered = 0 }
    return unsafe call.state.pointee.is_unanswered != 0
  }
}

extension Call {
  /// Makes this carry the message of another call on.
  func carry(messageOf other: Call) {
    unsafe state.pointee.message = other.state.pointee.message
    unsafe state.pointee.has_otherwise = other.state.pointee.has_otherwise
    unsafe state.pointee.is_uncancelled = other.state.pointee.is_uncancelled
    unsafe state.pointee.cannot_throw = other.state.pointee.cannot_throw
    unsafe state.pointee.is_unanswered = 0
  }

  /// Takes over the note that no target answered, from a call that carried this message on.
  func adoptUnanswered(of other: Call) {
    unsafe state.pointee.is_unanswered = other.state.pointee.is_unanswered
  }
}
