// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

/// A result that is set once, and that one task awaits. Successes without an answer, such as the
/// end of a pause, are nil.
struct OneShot: Sendable {
  /// A result that keeps its error in a box, so that a copy is one retain. A `Result` with a
  /// `RemoteError` is copied by functions of the runtime.
  enum Outcome: Sendable {
    case success(RemoteAnswer?)
    indirect case failure(RemoteError)

    func get() throws(RemoteError) -> RemoteAnswer? {
      switch self {
      case .success(let answer): return answer
      case .failure(let error): throw error
      }
    }
  }

  private let state: Guarded<State>

  /// What a call needs to read its answers. It is kept here, so that the closure that takes them
  /// holds the one reference to the state, and needs no memory of its own.
  struct Asked {
    let number: UInt64
    let end: DispatchTime
    let counts: RemoteCounts
    let settling: ReconnectGrace

    /// The outcome of an answer; nil if it is malformed.
    func outcome(of result: Result<[UInt8], TransportError>) -> Outcome? {
      switch result {
      case .failure(let error): return settling.failure(error)
      case .success(let bytes):
        guard let read = RemoteAnswer(bytes, to: number) else {
          counts.strange()
          return nil
        }
        // The timer may not be running yet when the time is over.
        return DispatchTime.now() < end ? .success(read) : .failure(.timedOut)
      }
    }
  }

  init(_ asked: Asked? = nil) { state = Guarded(State(asked: asked)) }

  private struct State {
    var asked: Asked?
    var outcome: Outcome?
    /// The outcome that came while the first one was that the call was not sent: its deadline, or
    /// its cancellation.
    var next: Outcome?
    var waiting = Waiting()

    /// Sets the outcome, and takes out what waits for it. Returns false if there is one already.
    mutating func finish(_ outcome: Outcome, _ waiting: inout Waiting) -> Bool {
      guard self.outcome == nil else {
        if OneShot.isUnsent(self.outcome), next == nil { next = outcome }
        return false
      }
      self.outcome = outcome
      // A swap retains nothing, where a copy retains each closure.
      swap(&waiting, &self.waiting)
      return true
    }
  }

  /// What waits for the outcome.
  private struct Waiting {
    /// Resumes the awaiting task. It is a closure, as the size of a continuation is known only at
    /// run time.
    var resume: (@Sendable (Outcome) -> Void)?
    var whenFinished: (@Sendable () -> Void)?

    func hear(_ outcome: Outcome) {
      resume?(outcome)
      whenFinished?()
    }
  }

  /// Sets the outcome. Only the first call has an effect; but a call that was not sent may be sent
  /// again, so what ends it meanwhile is kept for ``reopen()``.
  func finish(_ outcome: Outcome) {
    var waiting = Waiting()
    let isFirst = state.withLockInPlace { $0.finish(outcome, &waiting) }
    if isFirst { waiting.hear(outcome) }
  }

  /// Takes an answer of the transport to a call.
  func take(_ result: Result<[UInt8], TransportError>) {
    var waiting = Waiting()
    let first: Outcome? = state.withLockInPlace { state in
      guard let outcome = state.asked?.outcome(of: result) else { return nil }
      return state.finish(outcome, &waiting) ? outcome : nil
    }
    if let first { waiting.hear(first) }
  }

  /// Calls a closure once the outcome is set, or at once if it is set already. The closure replaces
  /// that of an earlier call, as a caller that awaits several steps waits only for the last one.
  func onlyWhenFinished(_ body: @escaping @Sendable () -> Void) {
    let isFinished = state.withLockInPlace { state in
      if state.outcome == nil { state.waiting.whenFinished = body }
      return state.outcome != nil
    }
    if isFinished { body() }
  }

  /// The outcome; nil until it is set.
  var outcome: Outcome? { state.read { $0.outcome } }

  /// What ends a call before it is sent again; nil if it goes on.
  var over: Outcome? { outcome ?? (Task.isCancelled ? .failure(.cancelled) : nil) }

  /// Whether the call is known not to have been sent.
  var isUnsent: Bool { state.read { Self.isUnsent($0.outcome) } }

  /// The outcome of a call that was sent; nil until it is set.
  var outcomeIfSent: Outcome? {
    state.read { Self.isUnsent($0.outcome) ? nil : $0.outcome }
  }

  private static func isUnsent(_ outcome: Outcome?) -> Bool {
    if case .failure(.notCarried(.unsent)) = outcome { true } else { false }
  }

  /// Clears the outcome of a call that was not sent, as it is sent again, unless something else has
  /// ended it meanwhile.
  func reopen() {
    state.withLockInPlace { state in
      guard Self.isUnsent(state.outcome) else { return }
      state.outcome = state.next
      state.next = nil
    }
  }

  /// Awaits the outcome.
  ///
  /// - Throws: The error of the outcome; ``RemoteError/cancelled`` if the task is cancelled before.
  nonisolated(nonsending) func wait() async throws(RemoteError) -> RemoteAnswer? {
    if let known = outcome { return try known.get() }
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known: Outcome? = state.withLockInPlace { state in
          if state.outcome == nil {
            state.waiting.resume = { continuation.resume(returning: $0) }
          }
          return state.outcome
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      finish(.failure(.cancelled))
    }
    return try outcome.get()
  }
}
