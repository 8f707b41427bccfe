/// How many calls are right.
struct CallCounts: Sendable {
  /// Whether a number is right.
  let contains: @Sendable (Int) -> Bool
  /// From how many on there are enough, and the most; nil where nothing tells, or nothing ends them.
  private let least: Int?
  private let most: Int?
  /// The numbers in words.
  let text: String

  /// Takes the ends of the ranges that the library has as they are: to measure one against a collection traps
  /// at the ends of `Int`. Any other is asked for each number.
  init(_ range: some RangeExpression<Int> & Sendable) {
    contains = { range.contains($0) }
    switch range as Any {
    case let range as ClosedRange<Int>: (least, most) = (range.lowerBound, range.upperBound)
    case let range as Range<Int>:
      // The number before an end that nothing is before is as far from all counts as the end is.
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

  /// Whether there are as many as are wanted. More may still be right.
  func areEnough(_ count: Int) -> Bool { least.map { count >= $0 } ?? contains(count) }

  /// Whether waiting has an end at so many: they are enough, where any are wanted, or too many.
  func areDecided(_ count: Int) -> Bool {
    let isNoneWanted = most.map { $0 <= 0 } ?? (contains(0) && !contains(1))
    return areEnough(count) && !isNoneWanted || count > most ?? .max
  }
}
