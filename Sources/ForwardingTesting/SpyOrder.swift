// SPDX-License-Identifier: Apache-2.0
import Forwarding

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
    message.step
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
  @SpyOrderBuilder _ steps: () -> [SpiedStep]
) -> Bool {
  verify(steps(), SpyPlace(fileID: fileID, filePath: filePath, line: line))
}

private func verify(_ steps: [SpiedStep], _ place: SpyPlace) -> Bool {
  var last: (stamp: UInt64, text: String)?
  for step in steps {
    let calls = step.spy.kept(step.selector, where: step.matches)
    guard let next = calls.first(where: { $0.stamp > last?.stamp ?? 0 }) else {
      step.spy.fail(
        "a call of \(step.text)\(last.map { " after \($0.text)" } ?? "")",
        calls.isEmpty ? "received none" : "received \(calls.count) before that",
        transcript(of: steps), place)
      return false
    }
    step.spy.mark([next])
    last = (next.stamp, step.text)
  }
  return true
}

/// The calls of all spies in the steps, in their order.
private func transcript(of steps: [SpiedStep]) -> [String] {
  var seen: Set<ObjectIdentifier> = []
  return steps.map(\.spy).filter { seen.insert(ObjectIdentifier($0)).inserted }
    .flatMap { $0.kept() }.sorted { $0.stamp < $1.stamp }.map(\.text)
}

extension Spy {
  /// Expects a call of each message in this order, and reports a failure otherwise. Other calls may
  /// come in between.
  ///
  /// - Returns: whether the expectation holds.
  @discardableResult
  public func verifyInOrder(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    @SpyOrderBuilder _ steps: (SpiedMessages<Proxy>) -> [SpiedStep]
  ) -> Bool {
    verify(steps(messages), SpyPlace(fileID: fileID, filePath: filePath, line: line))
  }

  /// Expects that every call was counted, received or expected by the test, and reports a failure
  /// otherwise.
  ///
  /// - Returns: whether the expectation holds.
  @discardableResult
  public func verifyNoMoreCalls(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line
  ) -> Bool {
    recorder.verifyNoMoreCalls(fileID: fileID, filePath: filePath, line: line)
  }
}

extension SpyProxy {
  /// Expects that every call was counted, received or expected by the test, and reports a failure
  /// otherwise.
  ///
  /// - Returns: whether the expectation holds.
  @discardableResult
  public func verifyNoMoreCalls(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line
  ) -> Bool {
    let rest = kept().filter { !$0.isSeen }
    if rest.isEmpty { return true }
    fail(
      "no more calls", rest.count == 1 ? "received one" : "received \(rest.count)",
      rest.map(\.text), SpyPlace(fileID: fileID, filePath: filePath, line: line))
    return false
  }
}
