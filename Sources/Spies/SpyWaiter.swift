import Dispatch
import Invocations

/// A wait for the ends of calls: resumed by the end that decides, by one timer, or by the end of
/// its task.
///
/// It asks for each call once whether it is meant: when the call begins, or for those that are kept already, at
/// first. So no end of a call looks at any other.
final class SpyWaiter: Sendable {
  /// A call that was there before the wait.
  struct Seen {
    let stamp: UInt64
    let isOpen: Bool
    /// nil where every call is meant.
    let invocation: Invocation?
  }

  private struct State: Sendable {
    var continuation: CheckedContinuation<Void, any Error>?
    /// How it ended, if it has.
    var end: Result<Void, any Error>?
    /// The calls that are meant, without an end and with one.
    var begun: Set<UInt64> = []
    var ended: [UInt64] = []
    /// The ends that came before it was known which of the older calls are meant; nil from then on.
    var early: Set<UInt64>? = []
    /// What is less was forgotten.
    var first: UInt64 = 0
  }

  private let state = Guarded(State())
  let times: CallCounts
  let matches: SpyMatch?

  init(for times: CallCounts, where matches: SpyMatch?) {
    (self.times, self.matches) = (times, matches)
  }

  /// How many calls that are meant have ended.
  var endedCount: Int { state.read { $0.ended.count } }

  /// Takes the calls that were there before.
  func takeOlder(_ older: [Seen]) {
    let meant = older.filter { call in
      guard let matches, let invocation = call.invocation else { return true }
      return (try? matches(invocation)) ?? false
    }
    change { state in
      let early = state.early ?? []
      state.early = nil
      for call in meant where call.stamp >= state.first {
        if call.isOpen, !early.contains(call.stamp) {
          state.begun.insert(call.stamp)
        } else {
          state.ended.append(call.stamp)
        }
      }
    }
  }

  /// Takes a call that has come.
  func begin(_ call: Call, _ stamp: UInt64) {
    guard call.isOne(of: matches) else { return }
    change { state in if stamp >= state.first { state.begun.insert(stamp) } }
  }

  /// Takes the end of a call of any message, which is counted if the call is meant.
  func end(_ stamp: UInt64) {
    change { state in
      if state.begun.remove(stamp) != nil {
        state.ended.append(stamp)
      } else {
        state.early?.insert(stamp)
      }
    }
  }

  /// Counts the calls from a stamp on.
  func forget(before stamp: UInt64) {
    change { state in
      state.first = max(state.first, stamp)
      state.begun = state.begun.filter { $0 >= stamp }
      state.ended.removeAll { $0 < stamp }
    }
  }

  private func change(_ body: (inout State) -> Void) {
    let isDecided = state.withLockInPlace { state in
      body(&state)
      return state.early == nil && state.end == nil && times.areDecided(state.ended.count)
    }
    if isDecided { finish(.success(())) }
  }

  nonisolated(nonsending) func wait(for limit: Duration) async throws {
    try Task.checkCancellation()
    let timer = SpyDelay.after(limit) { [weak self] in self?.finish(.success(())) }
    defer { Deadlines.shared.cancel(timer) }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let end = state.withLockInPlace { state in
          if state.end == nil { state.continuation = continuation }
          return state.end
        }
        // It may have ended before, as where the calls were there already.
        if let end { continuation.resume(with: end) }
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
  ) -> Deadlines.Number {
    Deadlines.shared.add(in: interval(delay), body)
  }

  private static func interval(_ delay: Duration) -> DispatchTimeInterval {
    let (seconds, attoseconds) = max(delay, .zero).components
    let (whole, isTooMuch) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !isTooMuch, whole < Int64.max / 4 else { return .never }
    return .nanoseconds(Int(whole + attoseconds / 1_000_000_000))
  }
}
