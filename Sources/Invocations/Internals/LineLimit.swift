/// How many lines go to stderr.
struct LineLimit {
  static let period = Duration.seconds(10)
  static let count = 10
  /// How many texts of one subject are made in a period, of which most turn out to be the same.
  static let texts = 100

  /// What an event is about: all but its text.
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

  /// Whether no other line is admitted in this period.
  var isReached: Bool { told.count >= Self.count }

  /// Whether the line of an event may be admitted, so that its text is needed. If not, it is left out.
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

  /// Returns nil if the line, which came up so many times, is left out; else how many were left out since the last
  /// one that was not.
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
