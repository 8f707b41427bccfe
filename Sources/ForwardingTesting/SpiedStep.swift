// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations

/// The calls that a message of a spy stands for: a step in an expected order.
///
/// ```swift
/// let (one, other) = (SpyProxy(reportingTo: Printing()), SpyProxy(reportingTo: Printing()))
/// let (open, close) = try (Message<NoResult>("open"), Message<NoResult>("close"))
/// try open(on: one)
/// try close(on: other)
/// verifyInOrder {
///   one[open]
///   other[close]
/// }
/// ```
public struct SpiedStep: Sendable {
  let spy: SpyProxy
  let selector: Selector
  /// Nil for every call of the selector.
  var matches: SpyMatch?
  /// The number of arguments in which a call differs from the wanted ones, to sort calls in a
  /// failure.
  var distance: SpyDistance?
  /// The description in a failure.
  var text: String

  /// The calls so far, which are marked as seen by the test.
  var calls: [KeptCall] { spy.kept(selector, where: matches, marking: true) }

  /// Their number; they are marked as seen.
  var count: Int { spy.count(selector, where: matches) }

  /// All calls of the spy as text. Those of the selector come first, sorted by the number of
  /// differing arguments, then those with similar names.
  var nearestCalls: [String] {
    func rank(_ call: KeptCall) -> Int {
      if call.selector == selector { return (try? distance?(call.invocation)) ?? 0 }
      return 1000 + NearestName.distance(call.selector.name, selector.name)
    }
    return spy.kept().enumerated().map { (rank($0.element), $0.offset, $0.element) }
      .sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2.text)
  }
}
