// SPDX-License-Identifier: Apache-2.0
/// The outcome of one message at each target.
///
/// ```swift
/// observers.add(screen)
/// observers.add(account)
/// let report = try Message<NoResult, Int32>("didSave:").report(42, on: observers)
/// report.entries.map(\.outcome)  // [answered, noMethod]
/// report.answered                // 1
/// ```
public struct DeliveryReport: Sendable {
  /// The outcome at one target.
  public struct Entry: Sendable {
    /// The token of the registration.
    public let token: MulticastProxy.Token
    /// The target's type, if it was alive: its class, or the type of a value that is a target.
    public let type: Any.Type?
    /// What happened, as far as it is known now.
    public let outcome: DeliveryOutcome
    /// The target's answer, if the message has a result and the sender waited for it.
    public var answer: DeliveryAnswer? { late?.answer }
    /// The future outcome of a queued message; nil for other messages.
    public var ticket: DeliveryTicket? { late?.ticket }

    /// Fields that most entries of a message without a result do not need. A single word is faster
    /// to create and destroy.
    final class Late: Sendable {
      let answer: DeliveryAnswer?
      let ticket: DeliveryTicket?

      /// Returns nil if both fields are nil.
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

  /// The number of targets that answered.
  public var answered: Int { entries.count { $0.outcome.isAnswer } }

  /// The number of messages that were queued.
  public var queued: Int { entries.count { if case .queued = $0.outcome { true } else { false } } }

  /// The errors that targets threw, or that prevented a call, in order. They include those of
  /// targets that missed their deadline, and of queues that could not be waited for.
  public var errors: [any Error] { entries.compactMap(\.outcome.error) }
}

/// The answer of one target.
///
/// ```swift
/// views.add(screen)
/// let report = try Message<Double>("height").report(on: views)
/// try report.entries[0].answer?.value(as: Double.self)  // 100.0
/// ```
public struct DeliveryAnswer: @unchecked Sendable {
  // SAFETY: the invocation was sent to this target alone, or holds only its result. Nothing else
  // refers to it, and it is only read from here on.
  private let invocation: Invocation

  init(_ invocation: Invocation) { self.invocation = invocation }

  /// Returns the answer as a Swift type, which must be the type of the message's result.
  ///
  /// - Throws: an ``InvocationError`` if the type does not fit.
  public func value<Value>(
    as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    try invocation.result(as: type)
  }

  /// Returns the answer if it is an object.
  ///
  /// - Throws: an ``InvocationError`` if the result is not an object.
  public func object() throws(InvocationError) -> AnyObject? { try invocation.resultObject() }
}

/// The outcome of a message at one target.
///
/// ```swift
/// observers.add(screen)
/// let report = try Message<NoResult>("rename").report(on: observers)
/// report.entries[0].outcome           // noMethod
/// report.entries[0].outcome.isAnswer  // false
/// ```
@nonexhaustive
public enum DeliveryOutcome: Sendable {
  /// The target's method ran to its end.
  case answered
  /// The target has no method for the selector.
  case noMethod
  /// The target threw, or its method has other types than the message.
  case failed(any Error)
  /// The target had died.
  case dead
  /// The registration was removed before its turn, or had already got its only message.
  case removed
  /// The registration is blocked.
  case blocked
  /// An earlier target ended the delivery.
  case notCalled
  /// The message is queued for another thread.
  case queued
  /// The target missed its deadline. If it had begun, it may still run to its end.
  case timedOut
  /// The target's queue already waits for this delivery, so waiting for the queue would never end.
  case wouldDeadlock
  /// The target's queue was deallocated before the message ran.
  case cancelled

  /// The outcome of a method that threw.
  init(_ error: any Error) { self = error is NotImplemented ? .noMethod : .failed(error) }

  /// Whether the target was not asked. A target that failed, or gets the message later, was asked.
  var isUnasked: Bool {
    if case .queued = self { false } else { !isAnswer && error == nil }
  }

  /// Whether the target answered.
  public var isAnswer: Bool { if case .answered = self { true } else { false } }

  /// The error that a sender without a report gets; nil if there was no error.
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
