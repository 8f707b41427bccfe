// SPDX-License-Identifier: Apache-2.0
/// The numbers of calls that an expectation accepts: `2`, `1...3`, `2...` or `...3`.
///
/// ```swift
/// 2.acceptedCalls       // 2...2
/// (...3).acceptedCalls.contains(0)  // true
/// ```
public protocol CallCounts: Sendable {
  /// The least and the greatest accepted number.
  var acceptedCalls: ClosedRange<Int> { get }
}

extension Int: CallCounts {
  public var acceptedCalls: ClosedRange<Int> { self...self }
}

extension ClosedRange: CallCounts where Bound == Int {
  public var acceptedCalls: ClosedRange<Int> { self }
}

extension PartialRangeFrom: CallCounts where Bound == Int {
  public var acceptedCalls: ClosedRange<Int> { lowerBound...Int.max }
}

extension PartialRangeThrough: CallCounts where Bound == Int {
  public var acceptedCalls: ClosedRange<Int> { Int.min...upperBound }
}

extension ClosedRange<Int> {
  /// The accepted numbers in words, such as `at least 2 calls`.
  var callCounts: String {
    let calls = { $0 == 1 ? "1 call" : "\($0) calls" }
    if lowerBound == 0, upperBound == 0 { return "no call" }
    if lowerBound == upperBound { return calls(lowerBound) }
    if upperBound == .max { return "at least \(calls(lowerBound))" }
    return lowerBound <= 0
      ? "at most \(calls(upperBound))" : "\(lowerBound) to \(calls(upperBound))"
  }

  /// Whether a wait can end at this number: enough calls have ended, if any are expected, or too
  /// many.
  func isDecided(by count: Int) -> Bool {
    count >= lowerBound && upperBound > 0 || count > upperBound
  }
}
