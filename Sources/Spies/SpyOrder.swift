import Forwarding

/// A message that is expected at its place in an order.
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

/// Makes a list of the messages that are written below each other.
///
/// ```swift
/// func order(@SpyOrderBuilder _ steps: () -> [SpiedStep]) -> Int { steps().count }
/// order {}  // 0
/// ```
@resultBuilder
public enum SpyOrderBuilder {
  /// A message of a spy, or those of its calls that it was narrowed to.
  public static func buildExpression<Result, each Argument>(
    _ message: SpiedMessage<Result, repeat each Argument>
  ) -> SpiedStep {
    SpiedStep(
      spy: message.spy, selector: message.selector, matches: message.matches, text: message.text)
  }

  /// All of them.
  public static func buildBlock(_ steps: SpiedStep...) -> [SpiedStep] { steps }
}

/// Fails unless there was a call of each message, one after the other, whichever spies they came to. Others may
/// have come between them.
@discardableResult
public func verifyInOrder(
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
  column: Int = #column, @SpyOrderBuilder _ steps: () -> [SpiedStep]
) -> Bool {
  let place = SpyPlace(fileID: fileID, filePath: filePath, line: line, column: column)
  return SpyOrder.verify(steps(), place)
}

extension Spy {
  /// Fails unless there was a call of each message, one after the other. Others may have come between them.
  @discardableResult
  public func verifyInOrder(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column, @SpyOrderBuilder _ steps: (SpiedMessages<Face>) -> [SpiedStep]
  ) -> Bool {
    let place = SpyPlace(fileID: fileID, filePath: filePath, line: line, column: column)
    return SpyOrder.verify(steps(messages), place)
  }

  /// Fails if there was a call that nothing has looked at: neither counted, nor received, nor expected.
  @discardableResult
  public func verifyNoMoreCalls(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column
  ) -> Bool {
    proxy.verifyNoMoreCalls(fileID: fileID, filePath: filePath, line: line, column: column)
  }
}

extension SpyProxy {
  /// Fails if there was a call that nothing has looked at: neither counted, nor received, nor expected.
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

  /// What came to all spies of an order, in order.
  private static func all(_ steps: [SpiedStep]) -> [String] {
    var seen: Set<ObjectIdentifier> = []
    return steps.map(\.spy).filter { seen.insert(ObjectIdentifier($0)).inserted }
      .flatMap { $0.kept() }.sorted { $0.stamp < $1.stamp }.map(\.text)
  }
}
