/// What became of one message at each target.
///
/// ```swift
/// observers.add(screen)
/// observers.add(account)
/// let report = try Message<NoResult, Int32>("didSave:").deliver(42, on: observers)
/// report.entries.map(\.outcome)  // [answered, noMethod]
/// report.answered                // 1
/// ```
public struct DeliveryReport: Sendable {
  /// One target's part.
  public struct Entry: Sendable {
    /// The registration.
    public let token: MulticastProxy.Token
    /// The target's class, if it was alive.
    public let type: AnyClass?
    /// What happened, as far as it is known now.
    public let outcome: DeliveryOutcome
    /// What the target answered, if the message has a result and it was waited for.
    public var answer: DeliveryAnswer? { late?.answer }
    /// For a queued message: where the outcome will be.
    public var ticket: DeliveryTicket? { late?.ticket }

    /// What most entries of a message without a result do not have; one word is quicker to make and to end.
    final class Late: Sendable {
      let answer: DeliveryAnswer?
      let ticket: DeliveryTicket?

      /// Nil where there is nothing to keep.
      init?(_ call: Invocation?, _ ticket: DeliveryTicket?) {
        if call == nil, ticket == nil { return nil }
        answer = call.map { DeliveryAnswer($0) }
        self.ticket = ticket
      }
    }

    let late: Late?
  }

  /// One entry for each target of the snapshot, in the order of delivery.
  public internal(set) var entries: [Entry] = []

  /// Whether targets were not called because the task that awaited the delivery was cancelled.
  var isCancelled = false

  /// Makes an empty report.
  init() {}

  /// How many targets answered.
  public var answered: Int { entries.count { $0.outcome.isAnswer } }

  /// How many messages are on their way.
  public var queued: Int { entries.count { if case .queued = $0.outcome { true } else { false } } }

  /// The errors that targets threw, or that kept the message from them, in order; also those of
  /// targets that were late, or whose queue could not be waited for.
  public var errors: [any Error] { entries.compactMap(\.outcome.error) }
}

/// What one target answered.
///
/// ```swift
/// views.add(screen)
/// let report = try Message<Double>("height").deliver(on: views)
/// try report.entries[0].answer?.value(as: Double.self)  // 100.0
/// ```
public struct DeliveryAnswer: @unchecked Sendable {
  // SAFETY: the invocation is what this target alone was sent, or holds its result alone. Nothing
  // else refers to it, and it is only read from here on.
  private let invocation: Invocation

  init(_ invocation: Invocation) { self.invocation = invocation }

  /// The answer as a Swift type, which must be the one the message has.
  public func value<Value>(
    as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    try invocation.result(as: type)
  }

  /// The answer, if it is an object.
  public func object() throws(InvocationError) -> AnyObject? { try invocation.resultObject() }
}

/// What became of a message at one target.
///
/// ```swift
/// observers.add(screen)
/// let report = try Message<NoResult>("rename").deliver(on: observers)
/// report.entries[0].outcome           // noMethod
/// report.entries[0].outcome.isAnswer  // false
/// ```
@nonexhaustive
public enum DeliveryOutcome: Sendable {
  /// The target's method ran to its end.
  case answered
  /// The target has no answer to the selector.
  case noMethod
  /// The target threw, or its method has other types than the message.
  case failed(any Error)
  /// The target had died.
  case dead
  /// The registration was removed before its turn, or had its one message already.
  case removed
  /// The registration is blocked.
  case blocked
  /// An earlier target ended the delivery.
  case notCalled
  /// The message is on its way to another thread.
  case queued
  /// The target did not finish in time; whether it will still run is open if it had begun.
  case timedOut
  /// The target's queue waits for this delivery already, so waiting for the queue would never end.
  case wouldDeadlock
  /// The queue went away with the message still in it.
  case cancelled

  /// What became of a message whose method threw.
  init(_ error: any Error) { self = error is NotImplemented ? .noMethod : .failed(error) }

  /// Whether nobody was asked. A target that failed, or gets the message later, was.
  var isUnasked: Bool {
    if case .queued = self { false } else { !isAnswer && error == nil }
  }

  /// Whether the target answered.
  public var isAnswer: Bool { if case .answered = self { true } else { false } }

  /// The error that a sender without a report gets; nil where nothing went wrong.
  public var error: (any Error)? {
    switch self {
    case .failed(let error): error
    case .wouldDeadlock: ForwardingError.wouldDeadlock
    case .timedOut: ForwardingError.timedOut
    case .cancelled: ForwardingError.cancelled
    case .answered, .noMethod, .dead, .removed, .blocked, .notCalled, .queued: nil
    }
  }
}
