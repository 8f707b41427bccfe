// SPDX-License-Identifier: Apache-2.0
public import Dispatch
import Invocations

/// The future outcome of a queued message.
///
/// ```swift
/// observers.add(logger, on: .queue(background))
/// let report = try Message<NoResult, Int32>("didSave:").report(42, on: observers)
/// report.entries[0].ticket?.wait()  // answered
/// ```
public final class DeliveryTicket: Sendable {
  private struct State {
    var outcome: DeliveryOutcome?
    var waiting: [CheckedContinuation<DeliveryOutcome, Never>] = []
  }

  private let state = Guarded(State())
  private let done = DispatchSemaphore(value: 0)

  /// The outcome; nil while it is unknown.
  package var outcome: DeliveryOutcome? { state.read { $0.outcome } }

  /// Blocks the thread until the outcome is known; nil at the timeout.
  public func wait(timeout: DispatchTime = .distantFuture) -> DeliveryOutcome? {
    guard done.wait(timeout: timeout) == .success else { return nil }
    // Passes the signal on to the next waiting thread.
    done.signal()
    return outcome
  }

  /// Awaits the outcome without blocking a thread.
  public func value() async -> DeliveryOutcome {
    let outcome = await withCheckedContinuation { continuation in
      let known = state.withLock { state -> DeliveryOutcome? in
        if state.outcome == nil { state.waiting.append(continuation) }
        return state.outcome
      }
      if let known { continuation.resume(returning: known) }
    }
    // Read again under the lock: ThreadSanitizer does not know that a continuation orders memory
    // accesses.
    return self.outcome ?? outcome
  }

  /// Sets the outcome unless there is one, and returns the outcome that holds.
  func settle(_ outcome: DeliveryOutcome) -> DeliveryOutcome {
    resolve(outcome) ? outcome : self.outcome ?? outcome
  }

  /// Sets the outcome once; false if there is one already.
  @discardableResult
  func resolve(_ outcome: DeliveryOutcome) -> Bool {
    let waiting = state.withLock { state -> [CheckedContinuation<DeliveryOutcome, Never>]? in
      guard state.outcome == nil else { return nil }
      state.outcome = outcome
      defer { state.waiting = [] }
      return state.waiting
    }
    guard let waiting else { return false }
    done.signal()
    for continuation in waiting { continuation.resume(returning: outcome) }
    return true
  }
}
