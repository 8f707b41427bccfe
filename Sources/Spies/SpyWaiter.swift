import Dispatch
import Invocations

/// Somebody who waits for calls: resumed by the call that decides, by one timer, or by the end of its task.
final class SpyWaiter: Sendable {
  private struct State: Sendable {
    var continuation: CheckedContinuation<Void, any Error>?
    /// How it ended, if it has.
    var end: Result<Void, any Error>?
  }

  private let state = Guarded(State())
  private let isDecided: @Sendable () -> Bool

  init(until isDecided: @escaping @Sendable () -> Bool) { self.isDecided = isDecided }

  /// Looks whether the wait has an end, after a call.
  func look() { if isDecided() { finish(.success(())) } }

  nonisolated(nonsending) func wait(for limit: Duration) async throws {
    let timer = SpyDelay.after(limit) { [weak self] in self?.finish(.success(())) }
    defer { timer.cancel() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let end = state.withLockInPlace { state in
          if state.end == nil { state.continuation = continuation }
          return state.end
        }
        // It may have ended before; or the calls were there before anybody looked.
        if let end { return continuation.resume(with: end) }
        look()
      }
    } onCancel: {
      finish(.failure(CancellationError()))
    }
  }

  private func finish(_ end: Result<Void, any Error>) {
    let continuation = state.withLockInPlace { state in
      if state.end == nil { state.end = end }
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(with: end)
  }
}

/// Time that passes.
enum SpyDelay {
  /// Lets the thread wait.
  static func block(_ delay: Duration) {
    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + interval(delay))
  }

  /// Does something later, unless it is cancelled.
  static func after(
    _ delay: Duration, _ body: @escaping @Sendable () -> Void
  ) -> DispatchWorkItem {
    let item = DispatchWorkItem(block: body)
    DispatchQueue.global().asyncAfter(deadline: .now() + interval(delay), execute: item)
    return item
  }

  private static func interval(_ delay: Duration) -> DispatchTimeInterval {
    let (seconds, attoseconds) = delay.components
    let (whole, isTooMuch) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !isTooMuch, whole < Int64.max / 4 else { return .never }
    return .nanoseconds(Int(max(0, whole + attoseconds / 1_000_000_000)))
  }
}
