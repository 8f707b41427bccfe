// SPDX-License-Identifier: Apache-2.0
public import Invocations

/// The outcome of one message at each target, with the answers.
///
/// ```swift
/// observers.add(screen)
/// observers.add(account)
/// let report = try Message<Double>("height").report(on: observers)
/// report.entries.map(\.outcome)  // [answered, noMethod]
/// report.entries.map(\.answer)   // [100.0, nil]
/// report.answers                 // [100.0]
/// ```
///
/// The report of an invocation, whose types are known only at run time, has invocations for answers:
/// each holds the result of one target.
public struct DeliveryReport<Answer> {
  /// The outcome at one target.
  public struct Entry {
    /// The token of the registration, which names the type of the target.
    public let token: ForwardingToken
    /// What happened, as far as it is known now.
    public let outcome: DeliveryOutcome
    /// The target's answer; nil if it did not answer, or the sender did not wait for it.
    public let answer: Answer?
    /// The future outcome of a queued message; nil for other messages.
    public let ticket: DeliveryTicket?
  }

  /// One entry for each target of the snapshot, in the order of delivery.
  public internal(set) var entries: [Entry] = []

  /// The error of the first answer that could not be read. It ends no delivery, but is thrown after it.
  var unread: (any Error)?

  /// Makes an empty report.
  init() {}

  /// The answers of the targets, in order.
  public var answers: [Answer] { entries.compactMap(\.answer) }

  /// The number of targets that answered.
  public var answered: Int { entries.count { $0.outcome.isAnswer } }

  /// The number of messages that were queued.
  public var queued: Int { entries.count { if case .queued = $0.outcome { true } else { false } } }

  /// The errors that targets threw, or that prevented a call, in order. They include those of
  /// targets that missed their deadline, and of queues that could not be waited for.
  public var errors: [any Error] { entries.compactMap(\.outcome.error) }
}

extension DeliveryReport.Entry: Sendable where Answer: Sendable {}
extension DeliveryReport: Sendable where Answer: Sendable {}

extension DeliveryReport.Entry where Answer == Invocation {
  /// Returns the target's answer as a Swift type, which must be the type of the message's result; nil
  /// without an answer.
  ///
  /// - Throws: an ``InvocationError`` if the type does not fit.
  public func answer<Value>(
    as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value? {
    guard let answer else { return nil }
    return try answer.result(as: type)
  }
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
  /// The target threw, its method has other types than the message, or a ``ForwardingError`` says why
  /// it was not called, or not waited for any longer.
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

  /// The outcome of a method that threw.
  init(_ error: any Error) { self = error is NotImplemented ? .noMethod : .failed(error) }

  /// Whether the target answered.
  public var isAnswer: Bool { if case .answered = self { true } else { false } }

  /// The error that a sender without a report gets; nil if there was no error.
  package var error: (any Error)? { if case .failed(let error) = self { error } else { nil } }
}
