/// What became of a message at each target, with answers of their type.
///
/// ```swift
/// observers.add(screen)
/// observers.add(account)
/// let report = try Message<Double>("height").report(on: observers)
/// report.entries.map(\.answer)  // [100.0, nil]
/// report.answers                // [100.0]
/// ```
///
/// A ``DeliveryReport`` is the same for a message of any types.
public struct TypedReport<Answer> {
  /// One target's part.
  public struct Entry {
    let entry: DeliveryReport.Entry
    /// What the target answered; nil if it did not, or was not waited for.
    public let answer: Answer?

    /// The registration.
    public var token: MulticastProxy.Token { entry.token }
    /// The target's class, if it was alive.
    public var type: AnyClass? { entry.type }
    /// What happened, as far as it is known now.
    public var outcome: DeliveryOutcome { entry.outcome }
    /// For a queued message: where the outcome will be.
    public var ticket: DeliveryTicket? { entry.ticket }
  }

  /// One entry for each target, in the order of delivery.
  public let entries: [Entry]
  private let report: DeliveryReport

  /// Reads the answers; `empty` is that of a message without a result.
  init(_ report: DeliveryReport, empty: Answer?) throws {
    self.report = report
    entries = try report.entries.map { entry in
      guard entry.outcome.isAnswer else { return Entry(entry: entry, answer: nil) }
      return Entry(
        entry: entry, answer: try entry.answer.map { try $0.value(as: Answer.self) } ?? empty)
    }
  }

  /// What the targets answered, in order.
  public var answers: [Answer] { entries.compactMap(\.answer) }

  /// How many targets answered.
  public var answered: Int { report.answered }

  /// How many messages are on their way.
  public var queued: Int { report.queued }

  /// The errors that targets threw, or that kept the message from them, in order.
  public var errors: [any Error] { report.errors }
}

extension TypedReport.Entry: Sendable where Answer: Sendable {}
extension TypedReport: Sendable where Answer: Sendable {}
