// SPDX-License-Identifier: Apache-2.0
/// Limits the number of lines on stderr.
struct LineLimit {
  static let period = Duration.seconds(10)
  static let count = 10
  /// The maximum number of texts that are made for one subject in a period. Most of them turn out
  /// to be equal.
  static let texts = 100

  /// All properties of an event but its text.
  struct Subject: Hashable {
    private let kind: ForwardingEvent.Kind
    private let selector: Selector?
    private let type: SwiftType?
    private let error: SwiftType?

    init(_ event: ForwardingEvent) {
      kind = event.kind
      selector = event.selector
      type = event.type
      error = event.error.map { SwiftType(Swift.type(of: $0)) }
    }
  }

  private var begin: ContinuousClock.Instant?
  private var told: Set<String> = []
  private var made: [Subject: Int] = [:]
  private var leftOut = 0

  /// Whether no further line is admitted in this period.
  var isReached: Bool { told.count >= Self.count }

  /// Whether the line of an event may be admitted, so that its text is needed. If not, counts it as
  /// left out.
  mutating func asksForText(of subject: Subject, _ times: Int, at now: ContinuousClock.Instant)
    -> Bool
  {
    renew(at: now)
    if !isReached, made[subject, default: 0] < Self.texts {
      made[subject, default: 0] += 1
      return true
    }
    leftOut += times
    return false
  }

  /// Decides whether a line that occurred `times` times is written. Returns nil if not, else the
  /// number of lines that were left out since the last written one.
  mutating func admit(_ line: String, _ times: Int = 1, at now: ContinuousClock.Instant) -> Int? {
    renew(at: now)
    guard !isReached, told.insert(line).inserted else {
      leftOut += times
      return nil
    }
    defer { leftOut = times - 1 }
    return leftOut
  }

  private mutating func renew(at now: ContinuousClock.Instant) {
    if let begin, begin.duration(to: now) < Self.period { return }
    begin = now
    told = []
    made = [:]
  }
}
