// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations

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
    _ times: ClosedRange<Int>, within limit: Duration? = nil, ended: Int? = nil, _ place: SpyPlace
  ) -> Bool {
    let found = count
    let ended = ended ?? found
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
    try Task.checkCancellation()
    let (ends, waiter) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let number = spy.add(waiter)
    defer { spy.remove(waiter: number) }
    let timer = Deadlines.shared.add(at: Deadlines.time(after: limit)) { waiter.finish() }
    defer { Deadlines.shared.cancel(timer) }
    // The calls may have ended already.
    waiter.yield()
    var known: [UInt64: Bool] = [:]
    for await _ in ends where times.isDecided(by: endedCount(&known)) { break }
    try Task.checkCancellation()
    return conclude(times, within: limit, ended: endedCount(&known), place)
  }

  /// The number of calls that have ended.
  ///
  /// - Parameter known: which calls match: a closure is asked once in a wait.
  private func endedCount(_ known: inout [UInt64: Bool]) -> Int {
    var count = 0
    for call in spy.ended(selector) {
      let isMeant = known[call.stamp] ?? (try? matches?(call.call.invocation()) ?? true) ?? false
      known[call.stamp] = isMeant
      if isMeant { count += 1 }
    }
    return count
  }
}
