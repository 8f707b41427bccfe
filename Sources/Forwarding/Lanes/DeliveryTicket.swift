public import Dispatch

/// The outcome of a message that was queued, once it is known.
///
/// ```swift
/// observers.add(logger, on: .queue(background))
/// let report = try Message<NoResult, Int32>("didSave:").deliver(42, on: observers)
/// report.entries[0].ticket?.wait()  // answered
/// ```
public final class DeliveryTicket: Sendable {
  private struct State {
    var outcome: DeliveryOutcome?
    var waiting: [CheckedContinuation<DeliveryOutcome, Never>] = []
  }

  private let state = Guarded(State())
  private let done = DispatchSemaphore(value: 0)

  /// The outcome, or nil while it is not known.
  public var outcome: DeliveryOutcome? { state.read { $0.outcome } }

  /// Waits for the outcome; nil if the time runs out first.
  public func wait(timeout: DispatchTime = .distantFuture) -> DeliveryOutcome? {
    guard done.wait(timeout: timeout) == .success else { return nil }
    // The next waiter finds the signal too.
    done.signal()
    return outcome
  }

  /// Waits for the outcome without blocking a thread.
  public func value() async -> DeliveryOutcome {
    let outcome = await withCheckedContinuation { continuation in
      let known = state.withLock { state -> DeliveryOutcome? in
        if state.outcome == nil { state.waiting.append(continuation) }
        return state.outcome
      }
      if let known { continuation.resume(returning: known) }
    }
    // Read under the lock: ThreadSanitizer does not see how a continuation orders what was done before it.
    return self.outcome ?? outcome
  }

  /// Sets the outcome unless it was set before; returns the one that stands.
  func settle(_ outcome: DeliveryOutcome) -> DeliveryOutcome {
    resolve(outcome) ? outcome : self.outcome ?? outcome
  }

  /// Sets the outcome, once; false if it was set before.
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
