// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

import Glibc

/// Passes events to the destination of this process.
package enum EventReports {
  static let destination = Guarded(ForwardingEvent.Destination.standardError)
  private static let telling = ThreadLocal<Telling>()
  private static let lines = Guarded(LineLimit())

  private final class Telling: Sendable {}

  /// Reports an event that occurred `times` times. The caller must not hold a lock.
  package static func report(_ event: ForwardingEvent, times: Int = 1) {
    switch ForwardingEvent.destination {
    case .nowhere: break
    case .standardError: tellStandardError(event, times)
    case .handler(let tell):
      guard !isTelling else { return tellStandardError(event, times) }
      telling { for _ in 0..<times { tell(event) } }
    }
  }

  /// Whether the current thread runs a handler of events. One that causes events itself would
  /// recurse forever.
  package static var isTelling: Bool { telling.isSet }

  /// Runs a handler of events.
  package static func telling(_ body: () -> Void) { telling.with(Telling(), body) }

  /// Reports an allocation failure. Allocates no memory if the destination is stderr.
  @unsafe
  static func reportOutOfMemory(inCallback function: UnsafeRawPointer) {
    if case .standardError = ForwardingEvent.destination {
      return unsafe fwd_write_event(.callbackWithoutMemory, function)
    }
    report(.outOfMemory(inCallback: UInt(bitPattern: function)))
  }

  private static func tellStandardError(_ event: ForwardingEvent, _ times: Int) {
    let subject = LineLimit.Subject(event)
    let now = ContinuousClock.now
    // Checked first, because making the text takes longer than everything else.
    guard lines.withLockInPlace({ $0.asksForText(of: subject, times, at: now) }) else { return }
    let line = "swift-forwarding: \(event)"
    let admitted = lines.withLockInPlace { limit in
      limit.admit(line, times, at: now).map { (leftOut: $0, isLast: limit.isReached) }
    }
    guard let admitted else { return }
    var text = line
    if admitted.leftOut > 0 { text += " (and \(admitted.leftOut) more lines before)" }
    if admitted.isLast { text += " (no more lines for ten seconds)" }
    var bytes = Array("\(text)\n".utf8)
    // A single write, so that lines of several threads do not mix. Errors are ignored.
    _ = unsafe bytes.withUnsafeMutableBytes { unsafe write(2, $0.baseAddress, $0.count) }
  }
}
