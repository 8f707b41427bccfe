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
    return expectation(times, place).conclude(nil)
  }

  /// Waits for the last of so many calls, and fails if it has not come in time, or if there were more. It
  /// does not wait for one that should not come, except for none at all. Throws if its task is cancelled.
  @discardableResult
  public nonisolated(nonsending) func expect(
    times: Int = 1, within limit: Duration, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
  ) async throws -> Bool {
    try await expect(
      times: times...times, within: limit, fileID: fileID, filePath: filePath, line: line,
      column: column)
  }

  /// Waits for as many calls, and fails if they have not come in time, or if there were more.
  @discardableResult
  public nonisolated(nonsending) func expect(
    times: some RangeExpression<Int> & Sendable, within limit: Duration,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column
  ) async throws -> Bool {
    let place = SpyPlace(fileID: fileID, filePath: filePath, line: line, column: column)
    let expectation = expectation(times, place)
    try await expectation.wait(for: limit)
    return expectation.conclude(limit)
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

/// How many calls are right.
struct CallCounts: Sendable {
  let least: Int
  let most: Int

  /// The end of a range that has none.
  private static let end = Int(Int32.max)

  init(_ range: some RangeExpression<Int>) {
    // From 0 on, as nobody calls less than that.
    let bounds = range.relative(to: 0..<Self.end)
    (least, most) = (max(0, bounds.lowerBound), bounds.upperBound - 1)
  }

  var text: String {
    let calls = { $0 == 1 ? "1 call" : "\($0) calls" }
    if least == 0, most == 0 { return "no call" }
    if least == most { return calls(least) }
    if most >= Self.end - 1 { return "at least \(calls(least))" }
    return least == 0 ? "at most \(calls(most))" : "\(least) to \(calls(most))"
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

  private var count: Int { spy.count(selector, where: matches) }

  /// Whether waiting has an end: the calls are there, or too many.
  private var isDecided: Bool { count >= times.least && times.most > 0 || count > times.most }

  /// Fails if the number is wrong.
  func conclude(_ limit: Duration?) -> Bool {
    let found = spy.kept(selector, where: matches, marking: true).count
    if found >= times.least, found <= times.most { return true }
    let wait = limit.map { " within \($0)" } ?? ""
    spy.fail(
      "\(times.text) of \(text)\(wait)", found == 0 ? "received none" : "received \(found)",
      nearest: selector, by: distance, place)
    return false
  }

  /// Waits until the calls are there, or the time is over.
  nonisolated(nonsending) func wait(for limit: Duration) async throws {
    let waiter = SpyWaiter { isDecided }
    spy.tell(selector) { $0.waiters.append(waiter) }
    defer { spy.tell(selector) { $0.waiters.removeAll { $0 === waiter } } }
    try await waiter.wait(for: limit)
  }
}
