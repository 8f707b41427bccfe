// SPDX-License-Identifier: Apache-2.0
import Invocations

/// A wait for the ends of calls. It is resumed by the deciding end, by its timer, or by the
/// cancellation of its task.
///
/// Whether a call matches is evaluated once: when the call begins, or when the wait begins for
/// calls that are already recorded. So the end of a call does not look at other calls.
final class SpyWaiter: Sendable {
  private struct State: Sendable {
    var continuation: CheckedContinuation<Void, any Error>?
    /// How the wait ended, if it has.
    var end: Result<Void, any Error>?
    /// The matching calls: those that have not ended, and those that have.
    var begun: Set<UInt64> = []
    var ended: [UInt64] = []
    /// The ends that arrived before the older calls were matched; nil afterwards.
    var early: Set<UInt64>? = []
    /// Calls with lower stamps were removed from the spy.
    var first: UInt64 = 0
  }

  private let state = Guarded(State())
  let times: ClosedRange<Int>
  let matches: SpyMatch?

  init(for times: ClosedRange<Int>, where matches: SpyMatch?) {
    (self.times, self.matches) = (times, matches)
  }

  /// The number of matching calls that have ended.
  var endedCount: Int { state.read { $0.ended.count } }

  /// Adds the calls recorded before the wait, and which of them had not ended.
  func takeOlder(_ older: [SpyRecord.Entry], open: Set<UInt64>) {
    let meant = older.filter { entry in
      guard let matches else { return true }
      return (try? matches(entry.call.invocation())) ?? false
    }
    change { state in
      let early = state.early ?? []
      state.early = nil
      for call in meant where call.stamp >= state.first {
        if open.contains(call.stamp), !early.contains(call.stamp) {
          state.begun.insert(call.stamp)
        } else {
          state.ended.append(call.stamp)
        }
      }
    }
  }

  /// Adds a new call, if it matches.
  func begin(_ call: Call, _ stamp: UInt64) {
    guard call.isOne(of: matches) else { return }
    change { state in if stamp >= state.first { state.begun.insert(stamp) } }
  }

  /// Notes the end of a call of the selector. It counts if the call matches.
  func end(_ stamp: UInt64) {
    change { state in
      if state.begun.remove(stamp) != nil {
        state.ended.append(stamp)
      } else {
        state.early?.insert(stamp)
      }
    }
  }

  /// Drops the calls before a stamp.
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
      return state.early == nil && times.isDecided(by: state.ended.count)
    }
    if isDecided { finish(.success(())) }
  }

  nonisolated(nonsending) func wait(for limit: Duration) async throws {
    try Task.checkCancellation()
    let timer = Deadlines.shared.add(at: Deadlines.time(after: limit)) { [weak self] in
      self?.finish(.success(()))
    }
    defer { Deadlines.shared.cancel(timer) }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let end = state.withLockInPlace { state in
          if state.end == nil { state.continuation = continuation }
          return state.end
        }
        // The wait may have ended already, for instance if enough calls were already recorded.
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
