// SPDX-License-Identifier: Apache-2.0
/// The accepted numbers of calls.
struct CallCounts: Sendable {
  /// Whether a number is accepted.
  let contains: @Sendable (Int) -> Bool
  /// The bounds of the accepted numbers; nil if a bound is unknown, or there is no upper one.
  private let least: Int?
  private let most: Int?
  /// A description of the accepted numbers.
  let text: String

  /// Reads the bounds of the standard library's ranges directly, because `relative(to:)` traps at
  /// the limits of `Int`. Any other range expression is queried for each number.
  init(_ range: some RangeExpression<Int> & Sendable) {
    contains = { range.contains($0) }
    switch range as Any {
    case let range as ClosedRange<Int>: (least, most) = (range.lowerBound, range.upperBound)
    case let range as Range<Int>:
      // `Int.min` has no predecessor, and is itself as far below every count.
      (least, most) = (range.lowerBound, max(range.upperBound, .min + 1) - 1)
      if range.isEmpty {
        text = "a number of calls in an empty range"
        return
      }
    case let range as PartialRangeFrom<Int>: (least, most) = (range.lowerBound, nil)
    case let range as PartialRangeThrough<Int>: (least, most) = (0, range.upperBound)
    case let range as PartialRangeUpTo<Int>:
      (least, most) = (0, max(range.upperBound, .min + 1) - 1)
    default:
      (least, most) = (nil, nil)
      text = "a number of calls in \(range)"
      return
    }
    text = Self.text(least ?? 0, most)
  }

  private static func text(_ least: Int, _ most: Int?) -> String {
    let calls = { $0 == 1 ? "1 call" : "\($0) calls" }
    guard let most, most < .max || least == most else { return "at least \(calls(least))" }
    if least == 0, most == 0 { return "no call" }
    if least == most { return calls(least) }
    return least <= 0 ? "at most \(calls(most))" : "\(least) to \(calls(most))"
  }

  /// Whether at least as many calls as expected were made. More may also be accepted.
  func areEnough(_ count: Int) -> Bool { least.map { count >= $0 } ?? contains(count) }

  /// Whether a wait can end at this number: enough calls have ended, if any are expected, or too
  /// many.
  func areDecided(_ count: Int) -> Bool {
    let isNoneWanted = most.map { $0 <= 0 } ?? (contains(0) && !contains(1))
    return areEnough(count) && !isNoneWanted || count > most ?? .max
  }
}
