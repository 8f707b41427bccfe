// SPDX-License-Identifier: Apache-2.0
import Forwarding

/// A message at its place in an expected order.
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
  let matches: SpyMatch?
  let text: String
}

/// Builds a list of messages from statements.
///
/// ```swift
/// func order(@SpyOrderBuilder _ steps: () -> [SpiedStep]) -> Int { steps().count }
/// order {}  // 0
/// ```
@resultBuilder
public enum SpyOrderBuilder {
  /// Converts a message of a spy, or its narrowed calls, to a step.
  public static func buildExpression<Result, each Argument>(
    _ message: SpiedMessage<Result, repeat each Argument>
  ) -> SpiedStep {
    SpiedStep(
      spy: message.spy, selector: message.selector, matches: message.matches, text: message.text)
  }

  /// Combines the steps.
  public static func buildBlock(_ steps: SpiedStep...) -> [SpiedStep] { steps }
}

/// Expects a call of each message in this order, across all their spies, and reports a failure
/// otherwise. Other calls may come in between.
///
/// - Returns: whether the expectation holds.
@discardableResult
public func verifyInOrder(
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
  column: Int = #column, @SpyOrderBuilder _ steps: () -> [SpiedStep]
) -> Bool {
  let place = SpyPlace(fileID: fileID, filePath: filePath, line: line, column: column)
  return SpyOrder.verify(steps(), place)
}

extension Spy {
  /// Expects a call of each message in this order, and reports a failure otherwise. Other calls may
  /// come in between.
  ///
  /// - Returns: whether the expectation holds.
  @discardableResult
  public func verifyInOrder(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column, @SpyOrderBuilder _ steps: (SpiedMessages<Face>) -> [SpiedStep]
  ) -> Bool {
    let place = SpyPlace(fileID: fileID, filePath: filePath, line: line, column: column)
    return SpyOrder.verify(steps(messages), place)
  }

  /// Expects that every call was counted, received or expected by the test, and reports a failure
  /// otherwise.
  ///
  /// - Returns: whether the expectation holds.
  @discardableResult
  public func verifyNoMoreCalls(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column
  ) -> Bool {
    proxy.verifyNoMoreCalls(fileID: fileID, filePath: filePath, line: line, column: column)
  }
}

extension SpyProxy {
  /// Expects that every call was counted, received or expected by the test, and reports a failure
  /// otherwise.
  ///
  /// - Returns: whether the expectation holds.
  @discardableResult
  public func verifyNoMoreCalls(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column
  ) -> Bool {
    let rest = kept().filter { !$0.isSeen }
    if rest.isEmpty { return true }
    fail(
      "no more calls", rest.count == 1 ? "received one" : "received \(rest.count)",
      rest.map(\.text),
      SpyPlace(fileID: fileID, filePath: filePath, line: line, column: column))
    return false
  }
}

private enum SpyOrder {
  static func verify(_ steps: [SpiedStep], _ place: SpyPlace) -> Bool {
    var last: (stamp: UInt64, text: String)?
    for step in steps {
      let calls = step.spy.kept(step.selector, where: step.matches)
      guard let next = calls.first(where: { $0.stamp > last?.stamp ?? 0 }) else {
        let before = last.map { " after \($0.text)" } ?? ""
        step.spy.fail(
          "a call of \(step.text)\(before)",
          calls.isEmpty ? "received none" : "received \(calls.count) before that",
          all(steps), place)
        return false
      }
      step.spy.mark([next])
      last = (next.stamp, step.text)
    }
    return true
  }

  /// The calls of all spies in the steps, in their order.
  private static func all(_ steps: [SpiedStep]) -> [String] {
    var seen: Set<ObjectIdentifier> = []
    return steps.map(\.spy).filter { seen.insert(ObjectIdentifier($0)).inserted }
      .flatMap { $0.kept() }.sorted { $0.stamp < $1.stamp }.map(\.text)
  }
}
