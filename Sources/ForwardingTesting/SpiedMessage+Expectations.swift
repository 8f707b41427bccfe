// SPDX-License-Identifier: Apache-2.0
import Forwarding

extension SpiedMessage {
  /// Expects a number of calls so far, such as `2`, `2...` or `...3`, and reports a failure
  /// otherwise.
  ///
  /// - Returns: whether the expectation holds.
  @discardableResult
  public func expect(
    times: some CallCounts = 1, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: Int = #line
  ) -> Bool {
    let place = SpyPlace(fileID: fileID, filePath: filePath, line: line)
    return step.conclude(times.acceptedCalls, place)
  }

  /// Waits until a number of calls have ended: their answers have returned or thrown. Reports a
  /// failure if that takes too long, or if there were more calls.
  ///
  /// It returns when enough calls have ended and does not wait for surplus ones. If no call is
  /// expected, it waits for the whole duration.
  ///
  /// - Returns: whether the expectation holds.
  /// - Throws: `CancellationError` if the task is cancelled.
  @discardableResult
  public nonisolated(nonsending) func expect(
    times: some CallCounts = 1, within limit: Duration, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: Int = #line
  ) async throws -> Bool {
    let place = SpyPlace(fileID: fileID, filePath: filePath, line: line)
    return try await step.conclude(times.acceptedCalls, within: limit, place)
  }

  /// Reports a failure at this line for each further call.
  public func reject(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line
  ) {
    let place = SpyPlace(fileID: fileID, filePath: filePath, line: line)
    step.spy.tell(selector) { $0.rejections.append(.init(calls: step, place: place)) }
  }
}

extension SpiedStep {
  /// Reports a failure if the number of calls is wrong, or if too few of them have ended.
  fileprivate func conclude(
    _ times: ClosedRange<Int>, within limit: Duration? = nil, ended waiter: SpyWaiter? = nil,
    _ place: SpyPlace
  ) -> Bool {
    let found = count
    let ended = waiter?.endedCount ?? found
    let isRight = times.contains(found)
    if isRight, ended >= times.lowerBound { return true }
    var given = found == 0 ? "received none" : "received \(found)"
    if isRight {
      let open = found - ended
      given += ", of which \(open) \(open == 1 ? "has" : "have") not ended"
    }
    let wait = limit.map { " within \($0)" } ?? ""
    spy.fail("\(times.callCounts) of \(text)\(wait)", given, nearestCalls, place)
    return false
  }

  /// Waits until the calls have ended or the time is over, then reports a failure if the number is
  /// wrong.
  fileprivate nonisolated(nonsending) func conclude(
    _ times: ClosedRange<Int>, within limit: Duration, _ place: SpyPlace
  ) async throws -> Bool {
    let waiter = SpyWaiter(for: times, where: matches)
    spy.add(waiter, selector)
    defer { spy.remove(waiter, selector) }
    try await waiter.wait(for: limit)
    return conclude(times, within: limit, ended: waiter, place)
  }
}
