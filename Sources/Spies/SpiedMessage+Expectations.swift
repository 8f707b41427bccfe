import Forwarding

extension SpiedMessage {
  /// Fails unless there were so many calls by now.
  @discardableResult
  public func expect(
    times: Int = 1, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: Int = #line, column: Int = #column
  ) -> Bool {
    expect(
      times: times...times, fileID: fileID, filePath: filePath, line: line, column: column)
  }

  /// Fails unless there were as many calls by now: `2...`, `...3`.
  @discardableResult
  public func expect(
    times: some RangeExpression<Int> & Sendable, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
  ) -> Bool {
    let place = SpyPlace(fileID: fileID, filePath: filePath, line: line, column: column)
    return expectation(times, place).conclude()
  }

  /// Waits for the end of the last of so many calls: what answers it has come back, or has thrown. Fails if that
  /// was not in time, or if there were more. It does not wait for a call that should not come, except for none at
  /// all. Throws if its task is cancelled.
  @discardableResult
  public nonisolated(nonsending) func expect(
    times: Int = 1, within limit: Duration, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
  ) async throws -> Bool {
    try await expect(
      times: times...times, within: limit, fileID: fileID, filePath: filePath, line: line,
      column: column)
  }

  /// Waits for the ends of as many calls, and fails if they were not in time, or if there were more.
  @discardableResult
  public nonisolated(nonsending) func expect(
    times: some RangeExpression<Int> & Sendable, within limit: Duration,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column
  ) async throws -> Bool {
    let place = SpyPlace(fileID: fileID, filePath: filePath, line: line, column: column)
    return try await expectation(times, place).conclude(within: limit)
  }

  /// Fails at this line whenever a call comes from now on.
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

/// One expectation: which calls, how many, and where the test says so.
struct SpyExpectation: Sendable {
  let spy: SpyProxy
  let selector: Selector
  let matches: SpyMatch?
  let distance: SpyDistance?
  let text: String
  let times: CallCounts
  let place: SpyPlace

  /// Fails if the number is wrong, or if not as many of them have ended.
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

  /// Waits until the calls have ended, or the time is over; then fails if the number is wrong.
  nonisolated(nonsending) func conclude(within limit: Duration) async throws -> Bool {
    let waiter = SpyWaiter(for: times, where: matches)
    spy.add(waiter, selector)
    defer { spy.remove(waiter, selector) }
    try await waiter.wait(for: limit)
    return conclude(limit, waiter)
  }
}
