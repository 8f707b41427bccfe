// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations

/// The proxy behind a face while an `async` closure records. Messages may arrive on any thread.
final class AwaitedRecorder: ForwardingProxy, @unchecked Sendable {
  // SAFETY: all mutable state is behind a lock.
  private struct Kept: @unchecked Sendable {
    var isOver = false
    // SAFETY: these are copies that no other code refers to. They are handed over once, by `end()`.
    var calls: [RecordedCall] = []
    var failure: (Selector?, any Error)?
  }

  private let kept = Guarded(Kept())

  /// Stops recording.
  ///
  /// - Returns: the recorded calls, and the first message that was refused, with its error.
  func end() -> (calls: [RecordedCall], failure: (Selector?, any Error)?) {
    kept.withLockInPlace { kept in
      let (calls, failure) = (kept.calls, kept.failure)
      (kept.calls, kept.failure, kept.isOver) = ([], nil, true)
      return (calls, failure)
    }
  }

  override func forward(_ invocation: Invocation) throws {
    let selector = invocation.selector
    let call = invocation.call.recorded()
    do { try call.checkKeepable() } catch {
      kept.withLock { if $0.failure == nil { $0.failure = (selector, error) } }
      throw error
    }
    let isOver = kept.withLockInPlace { kept in
      if !kept.isOver { kept.calls.append(.whole(call)) }
      return kept.isOver
    }
    if isOver { throw UndoError.notRecording(selector) }
    if invocation.call.returnsValue { throw ForwardingError.nobodyAnswered(selector) }
  }

  override func match(_ invocation: Invocation, _ selector: Selector) -> InvocationMatch { .fits }

  override func responds(to selector: Selector) -> Bool { true }
}
