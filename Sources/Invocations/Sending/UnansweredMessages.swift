// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// Messages of faces that no target answered.
///
/// A proxy without a target for a message throws an error. A target may throw the same error, for a
/// message that it has sent itself. So the proxy records the number of the message, and the face
/// looks for that number.
package enum UnansweredMessages {
  /// The maximum number of records. A sender that is not a face never takes its record.
  private static let most = 4096
  private static let numbers = Guarded<Set<UInt64>>([])

  /// The error of a receiver that leaves out an optional requirement.
  package static var leftOut: any Error { NotImplemented() }

  /// Whether an error says that the receiver leaves out an optional requirement.
  package static func isLeftOut(_ error: any Error) -> Bool { error is NotImplemented }

  /// Records that no target answered a call.
  package static func note(_ call: Call) { note(unsafe call.state.pointee.message) }

  /// Whether the face answers a call where no target does.
  package static func hasOtherwise(_ call: Call) -> Bool {
    unsafe call.state.pointee.message & FWD_OTHERWISE_MESSAGE_BIT != 0
  }

  /// Records that no target answered a message with a number.
  static func note(_ message: UInt64) {
    guard message & FWD_FACE_MESSAGE_BIT != 0 else { return }
    numbers.withLockInPlace { numbers in
      // A custom proxy may swallow the error, and then its record stays.
      if numbers.count == most { numbers.removeAll() }
      numbers.insert(message)
    }
  }

  /// Whether no target answered a message that ended with an error. The note is removed.
  static func take(_ message: UInt64, _ error: any Error) -> Bool {
    if isLeftOut(error) { return true }
    guard message & FWD_FACE_MESSAGE_BIT != 0 else { return false }
    return numbers.withLockInPlace { $0.remove(message) != nil }
  }

  /// Whether no target answered a call that ended with an error. Removes the record.
  package static func take(_ call: Call, _ error: any Error) -> Bool {
    take(unsafe call.state.pointee.message, error)
  }
}
