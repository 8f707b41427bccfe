// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The number of nested messages that the current thread runs while their senders, or those of
/// others, wait for queues. Read for each message to a queue.
package enum ThreadChains {
  /// Whether the number is 0. False if the thread has no record.
  package static var areNone: Bool {
    guard let thread = unsafe fwd_thread() else { return false }
    return unsafe thread.pointee.chains == 0
  }

  /// Runs `body` as one more of them.
  package static func with<Result>(_ body: () throws -> Result) rethrows -> Result {
    let thread = unsafe fwd_thread()
    if let thread = unsafe thread { unsafe thread.pointee.chains += 1 }
    defer { if let thread = unsafe thread { unsafe thread.pointee.chains -= 1 } }
    return try body()
  }
}
