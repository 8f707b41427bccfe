// SPDX-License-Identifier: Apache-2.0
/// The outcome of a message at each target, with answers of their Swift type.
///
/// ```swift
/// observers.add(screen)
/// observers.add(account)
/// let report = try Message<Double>("height").report(on: observers)
/// report.entries.map(\.answer)  // [100.0, nil]
/// report.answers                // [100.0]
/// ```
///
/// A ``DeliveryReport`` is the untyped form, for messages whose types are known only at run time.
public struct TypedReport<Answer> {
  /// The outcome at one target.
  public struct Entry {
    let entry: DeliveryReport.Entry
    /// The target's answer; nil if it did not answer, or the sender did not wait for it.
    public let answer: Answer?

    /// The token of the registration.
    public var token: MulticastProxy.Token { entry.token }
    /// The target's type, if it was alive: its class, or the type of a value that is a target.
    public var type: Any.Type? { entry.type }
    /// What happened, as far as it is known now.
    public var outcome: DeliveryOutcome { entry.outcome }
    /// The future outcome of a queued message; nil for other messages.
    public var ticket: DeliveryTicket? { entry.ticket }
  }

  /// One entry for each target, in the order of delivery.
  public let entries: [Entry]
  private let report: DeliveryReport

  /// Reads the answers of a report.
  ///
  /// - Parameter empty: the answer to a message without a result.
  /// - Throws: an ``InvocationError`` if an answer has another type.
  init(_ report: DeliveryReport, empty: Answer?) throws {
    self.report = report
    entries = try report.entries.map { entry in
      guard entry.outcome.isAnswer else { return Entry(entry: entry, answer: nil) }
      return Entry(
        entry: entry, answer: try entry.answer.map { try $0.value(as: Answer.self) } ?? empty)
    }
  }

  /// The answers of the targets, in order.
  public var answers: [Answer] { entries.compactMap(\.answer) }

  /// The number of targets that answered.
  public var answered: Int { report.answered }

  /// The number of messages that were queued.
  public var queued: Int { report.queued }

  /// The errors that targets threw, or that prevented a call, in order.
  public var errors: [any Error] { report.errors }
}

extension TypedReport.Entry: Sendable where Answer: Sendable {}
extension TypedReport: Sendable where Answer: Sendable {}
