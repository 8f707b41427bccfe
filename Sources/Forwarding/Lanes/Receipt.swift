// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

/// What a sender has of its parcel: the ticket, the answer, and a way to cancel the call.
final class Receipt: @unchecked Sendable {
  // SAFETY: a waiting sender reads the answer only after the ticket is resolved. The rest is
  // constant or guarded.

  /// The sender that waits for the outcome. If there is no such sender, the proxy reports errors.
  enum Waiting {
    case nobody
    /// A thread, with the queues that it blocks.
    case blocking(BlockingChain)
    /// A task, with its forwarding steps.
    case awaiting(AwaitedStep?)
  }

  private struct State {
    var hasBegun = false
    var isCancelled = false
    /// The task that runs a call that suspends.
    var task: Task<Void, Never>?
  }

  private let waiting: Waiting
  private let ticket = DeliveryTicket()
  /// The answer, after the ticket is resolved as answered. It is stored separately, because the
  /// target may retain the invocation and modify it.
  private var answer: Invocation?
  private let context: ForwardingError.Context
  private let state = Guarded(State())

  init(of selector: Selector, to registration: Registration, _ waiting: Waiting) {
    self.waiting = waiting
    context = ForwardingError.Context(selector, to: registration)
  }

  /// The turn that ended with an outcome.
  func turn(_ outcome: DeliveryOutcome) -> Delivery.Turn {
    Delivery.Turn(outcome: outcome, ticket: ticket, call: outcome.isAnswer ? answer : nil)
  }

  // MARK: Receiving

  private var isWaitedFor: Bool { if case .nobody = waiting { false } else { true } }

  /// The queues that the sender blocks.
  var chain: BlockingChain? { if case .blocking(let chain) = waiting { chain } else { nil } }

  /// The forwarding steps of the sender.
  var step: AwaitedStep? { if case .awaiting(let step) = waiting { step } else { nil } }

  /// Whether the receiver may make the call: its sender has not cancelled it or missed its deadline.
  func begin() -> Bool {
    ticket.outcome == nil
      && state.withLockInPlace { state in
        state.hasBegun = !state.isCancelled
        return state.hasBegun
      }
  }

  func keepAnswer(of message: Invocation) {
    if isWaitedFor { answer = message.unsharedAnswer() }
  }

  /// Resolves the ticket. Returns whether a sender gets the outcome.
  func tell(_ outcome: DeliveryOutcome) -> Bool { ticket.resolve(outcome) && isWaitedFor }

  /// Resolves the ticket of a parcel that has not run.
  func drop() {
    if ticket.outcome == nil { ticket.resolve(.failed(ForwardingError.cancelled(context))) }
  }

  // MARK: Cancelling

  /// Sets the task to be cancelled with the parcel.
  func attach(_ task: Task<Void, Never>) {
    let isCancelled = state.withLockInPlace { state in
      state.task = task
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  /// Cancels the call for a waiting sender. If it has begun, its method decides when it ends.
  private func cancel() {
    let state = state.withLockInPlace { state in
      state.isCancelled = true
      return state
    }
    if !state.hasBegun { ticket.resolve(.failed(CancellationError())) }
    state.task?.cancel()
  }

  // MARK: Waiting

  /// Waits for the outcome; at the deadline it is that. The ticket holds the first one.
  func outcome(within deadline: DispatchTimeInterval) -> DeliveryOutcome {
    ticket.wait(timeout: .now() + deadline)
      ?? ticket.settle(.failed(ForwardingError.timedOut(context)))
  }

  /// Awaits the outcome. Cancels the call at the deadline. If `endsWithTask` is true, the
  /// cancellation of the awaiting task cancels it too.
  nonisolated(nonsending) func outcome(
    within deadline: DispatchTimeInterval?, endsWithTask: Bool
  ) async -> DeliveryOutcome {
    let number = deadline.map { deadline in
      Deadlines.shared.add(in: deadline) { [weak self] in
        guard let self, ticket.resolve(.failed(ForwardingError.timedOut(context))) else { return }
        cancel()
      }
    }
    defer { if let number { Deadlines.shared.cancel(number) } }
    if !endsWithTask { return await ticket.value() }
    return await withTaskCancellationHandler {
      await ticket.value()
    } onCancel: {
      self.cancel()
    }
  }
}
