import CForwardingShims

/// Messages of faces that nobody answered.
///
/// A proxy that finds nobody throws an error. A target may throw the same one, of a message that it has sent
/// itself; so the proxy notes the number of the message, and the face asks for that.
package enum UnansweredMessages {
  /// A sender that is no face does not ask: the notes of such messages would stay.
  private static let most = 4096
  private static let numbers = Guarded<Set<UInt64>>([])

  /// Notes that nobody answers a call.
  package static func note(_ call: Call) {
    let message = unsafe call.state.pointee.message
    guard message & FWD_FACE_MESSAGE_BIT != 0 else { return }
    numbers.withLockInPlace { numbers in
      // A custom proxy may keep errors to itself.
      if numbers.count == most { numbers.removeAll() }
      numbers.insert(message)
    }
  }

  /// Whether nobody answered a message that ended with an error; asked once.
  static func take(_ message: UInt64, _ error: any Error) -> Bool {
    if error is NotImplemented { return true }
    guard message & FWD_FACE_MESSAGE_BIT != 0 else { return false }
    return numbers.withLockInPlace { $0.remove(message) != nil }
  }

  /// The same for a call.
  package static func take(_ call: Call, _ error: any Error) -> Bool {
    take(unsafe call.state.pointee.message, error)
  }
}
