// SPDX-License-Identifier: Apache-2.0
import Forwarding

extension SpiedMessage {
  /// Expects exactly this number of calls so far, and reports a failure otherwise.
  ///
  /// - Returns: whether the expectation holds.
  @discardableResult
  public func expect(
    times: Int = 1, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: Int = #line, column: Int = #column
  ) -> Bool {
    expect(
      times: times...times, fileID: fileID, filePath: filePath, line: line, column: column)
  }

  /// Expects a number of calls so far in a range, such as `2...` or `...3`, and reports a failure
  /// otherwise.
  ///
  /// - Returns: whether the expectation holds.
  @discardableResult
  public func expect(
    times: some RangeExpression<Int> & Sendable, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
  ) -> Bool {
    let place = SpyPlace(fileID: fileID, filePath: filePath, line: line, column: column)
    return expectation(times, place).conclude()
  }

  /// Waits until exactly this number of calls have ended: their answers have returned or thrown.
  /// Reports a failure if that takes too long, or if there were more calls.
  ///
  /// It returns when enough calls have ended and does not wait for surplus ones. If no call is
  /// expected, it waits for the whole duration.
  ///
  /// - Returns: whether the expectation holds.
  /// - Throws: `CancellationError` if the task is cancelled.
  @discardableResult
  public nonisolated(nonsending) func expect(
    times: Int = 1, within limit: Duration, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
  ) async throws -> Bool {
    try await expect(
      times: times...times, within: limit, fileID: fileID, filePath: filePath, line: line,
      column: column)
  }

  /// Waits until a number of calls in a range have ended. Reports a failure if that takes too long,
  /// or if there were more calls.
  ///
  /// - Returns: whether the expectation holds.
  /// - Throws: `CancellationError` if the task is cancelled.
  @discardableResult
  public nonisolated(nonsending) func expect(
    times: some RangeExpression<Int> & Sendable, within limit: Duration,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column
  ) async throws -> Bool {
    let place = SpyPlace(fileID: fileID, filePath: filePath, line: line, column: column)
    return try await expectation(times, place).conclude(within: limit)
  }

  /// Reports a failure at this line for each further call.
  public func reject(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column
  ) {
    let place = SpyPlace(fileID: fileID, filePath: filePath, line: line, column: column)
    spy.tell(selector) {
      $0.rejections.append(.init(matches: matches, text: text, place: place))
    }
  }

  private func expectation(
    _ times: some RangeExpression<Int> & Sendable, _ place: SpyPlace
  ) -> SpyExpectation {
    SpyExpectation(
      spy: spy, selector: selector, matches: matches, distance: distance, text: text,
      times: CallCounts(times), place: place)
  }
}

/// An expectation: the calls, their number, and its place in the test.
struct SpyExpectation: Sendable {
  let spy: SpyProxy
  let selector: Selector
  let matches: SpyMatch?
  let distance: SpyDistance?
  let text: String
  let times: CallCounts
  let place: SpyPlace

  /// Reports a failure if the number is wrong, or if too few of the calls have ended.
  func conclude(_ limit: Duration? = nil, _ waiter: SpyWaiter? = nil) -> Bool {
    let found = spy.count(selector, where: matches)
    let ended = waiter?.endedCount ?? found
    let isRight = times.contains(found)
    if isRight, times.areEnough(ended) { return true }
    var given = found == 0 ? "received none" : "received \(found)"
    if isRight {
      let open = found - ended
      given += ", of which \(open) \(open == 1 ? "has" : "have") no end yet"
    }
    let wait = limit.map { " within \($0)" } ?? ""
    spy.fail("\(times.text) of \(text)\(wait)", given, nearest: selector, by: distance, place)
    return false
  }

  /// Waits until the calls have ended or the time is over, then reports a failure if the number is
  /// wrong.
  nonisolated(nonsending) func conclude(within limit: Duration) async throws -> Bool {
    let waiter = SpyWaiter(for: times, where: matches)
    spy.add(waiter, selector)
    defer { spy.remove(waiter, selector) }
    try await waiter.wait(for: limit)
    return conclude(limit, waiter)
  }
}
