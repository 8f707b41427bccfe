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
  /// The sender that waits for the outcome. If there is no such sender, the proxy reports errors.
  enum Waiting {
    case nobody
    /// A thread, with the queues that it blocks.
    case blocking(BlockingChain)
    /// A task, with its forwarding steps.
    case awaiting(AwaitedStep?)
  }

  private struct State {
    var outcome: DeliveryOutcome?
    /// The answer of a target for a sender that waits. It is stored separately, because the target
    /// may retain the invocation and modify it.
    var answer: Invocation?
    var continuations: [CheckedContinuation<DeliveryOutcome, Never>] = []
    var hasBegun = false
    var isCancelled = false
    /// The task that runs a call that suspends.
    var task: Task<Void, Never>?
  }

  private let waiting: Waiting
  private let context: ForwardingError.Context
  private let state = Guarded(State())
  private let done = DispatchSemaphore(value: 0)

  init(of selector: Selector, to registration: Registration, _ waiting: Waiting) {
    self.waiting = waiting
    context = ForwardingError.Context(selector, to: registration)
  }

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
      let known = state.withLockInPlace { state in
        if state.outcome == nil { state.continuations.append(continuation) }
        return state.outcome
      }
      if let known { continuation.resume(returning: known) }
    }
    // Read again under the lock: ThreadSanitizer does not know that a continuation orders memory
    // accesses.
    return self.outcome ?? outcome
  }

  /// The turn that ended with an outcome.
  func turn(_ outcome: DeliveryOutcome) -> Delivery.Turn {
    let answer = outcome.isAnswer ? state.withLockInPlace { $0.answer.take() } : nil
    return Delivery.Turn(outcome: outcome, ticket: self, call: answer)
  }

  // MARK: Receiving

  private var isWaitedFor: Bool { if case .nobody = waiting { false } else { true } }

  /// The queues that the sender blocks.
  var chain: BlockingChain? { if case .blocking(let chain) = waiting { chain } else { nil } }

  /// The forwarding steps of the sender.
  var step: AwaitedStep? { if case .awaiting(let step) = waiting { step } else { nil } }

  /// Whether the receiver may make the call: its sender has not cancelled it or missed its deadline.
  func begin() -> Bool {
    state.withLockInPlace { state in
      if state.outcome == nil { state.hasBegun = !state.isCancelled }
      return state.outcome == nil && state.hasBegun
    }
  }

  func keepAnswer(of message: Invocation) {
    guard isWaitedFor else { return }
    let answer = message.unsharedAnswer()
    state.withLockInPlace { $0.answer = answer }
  }

  /// Sets the outcome. Returns whether a sender gets it.
  func tell(_ outcome: DeliveryOutcome) -> Bool { resolve(outcome) && isWaitedFor }

  /// Sets the outcome of a call that was not made.
  func drop() { resolve(.failed(ForwardingError.cancelled(context))) }

  /// Sets the outcome once; false if there is one already.
  @discardableResult
  private func resolve(_ outcome: DeliveryOutcome) -> Bool {
    let waiting = state.withLockInPlace {
      state -> [CheckedContinuation<DeliveryOutcome, Never>]? in
      guard state.outcome == nil else { return nil }
      state.outcome = outcome
      defer { state.continuations = [] }
      return state.continuations
    }
    guard let waiting else { return false }
    done.signal()
    for continuation in waiting { continuation.resume(returning: outcome) }
    return true
  }

  // MARK: Cancelling

  /// Sets the task to be cancelled with the call.
  func attach(_ task: Task<Void, Never>) {
    let isCancelled = state.withLockInPlace { state in
      state.task = task
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  /// Cancels the call for a waiting sender. If it has begun, its method decides when it ends.
  private func cancel() {
    let (hasBegun, task) = state.withLockInPlace { state in
      state.isCancelled = true
      return (state.hasBegun, state.task)
    }
    if !hasBegun { resolve(.failed(CancellationError())) }
    task?.cancel()
  }

  // MARK: Waiting

  /// Waits for the outcome; at the deadline it is that, unless the call ends first.
  func conclude(within deadline: DispatchTimeInterval) -> DeliveryOutcome {
    if let outcome = wait(timeout: .now() + deadline) { return outcome }
    let late = DeliveryOutcome.failed(ForwardingError.timedOut(context))
    return resolve(late) ? late : outcome ?? late
  }

  /// Awaits the outcome. Cancels the call at the deadline. If `endsWithTask` is true, the
  /// cancellation of the awaiting task cancels it too.
  nonisolated(nonsending) func conclude(
    within deadline: DispatchTimeInterval?, endsWithTask: Bool
  ) async -> DeliveryOutcome {
    let number = deadline.map { deadline in
      Deadlines.shared.add(in: deadline) { [weak self] in
        guard let self, resolve(.failed(ForwardingError.timedOut(context))) else { return }
        cancel()
      }
    }
    defer { if let number { Deadlines.shared.cancel(number) } }
    if !endsWithTask { return await value() }
    return await withTaskCancellationHandler {
      await value()
    } onCancel: {
      self.cancel()
    }
  }
}
