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
  /// The description in a failure.
  var text: String

  /// The calls so far, which are marked as seen by the test.
  var calls: [SpiedCall] { spy.kept(selector, where: matches, marking: true) }

  /// Their number; they are marked as seen.
  var count: Int { spy.count(selector, where: matches) }

  /// All calls of the spy as text: those of the selector, then the others, in their order.
  var nearestCalls: [String] {
    let calls = spy.kept()
    let own = calls.filter { $0.selector == selector }
    return (own + calls.filter { $0.selector != selector }).map(\.text)
  }
}
