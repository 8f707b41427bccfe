// SPDX-License-Identifier: Apache-2.0
public import Forwarding

// The most frequent operations on a message, by its key path.
extension Spy {
  /// The key path of a message of the protocol.
  public typealias Name<Result, each Argument> = KeyPath<
    Face.__Messages, Requirement<Result, repeat each Argument>
  >

  @usableFromInline
  func message<Result, each Argument>(
    _ name: Name<Result, repeat each Argument>
  ) -> SpiedMessage<Result, repeat each Argument> {
    messages[dynamicMember: name]
  }

  /// Answers with the result of a closure.
  @inlinable
  public func answer<Result, each Argument>(
    _ name: Name<Result, repeat each Argument>,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) {
    message(name).answer(body)
  }

  /// Answers an `async` requirement with the result of a closure that may suspend, and takes the
  /// spy in front of the arguments.
  public func answer<Result, each Argument>(
    _ name: Name<Result, repeat each Argument>,
    awaiting body:
      nonisolated(nonsending) @escaping @Sendable (
        SpyProxy, repeat each Argument
      ) async throws -> Result
  ) {
    message(name).answer(awaiting: body)
  }

  /// Answers with a value.
  @inlinable
  public func answer<Result: Sendable, each Argument>(
    _ name: Name<Result, repeat each Argument>, with value: Result
  ) {
    message(name).answer(with: value)
  }

  /// Answers with these values in turn; the last one is repeated.
  @inlinable
  public func answer<Result: Sendable, each Argument>(
    _ name: Name<Result, repeat each Argument>, inTurn first: Result, _ rest: Result...
  ) {
    message(name).answer(inTurn: ([first] + rest).map { .success($0) })
  }

  /// Answers with an error.
  @inlinable
  public func answer<Result, each Argument>(
    _ name: Name<Result, repeat each Argument>, throwing error: some Error
  ) {
    message(name).answer(throwing: error)
  }

  /// The number of calls.
  public func calls<Result, each Argument>(_ name: Name<Result, repeat each Argument>) -> Int {
    message(name).calls
  }

  /// The arguments of all calls, in the order of the calls.
  public func received<Result, each Argument>(
    _ name: Name<Result, repeat each Argument>
  ) -> [(repeat each Argument)] where repeat each Argument: Sendable {
    message(name).received
  }

  /// Expects a number of calls so far, and reports a failure otherwise.
  ///
  /// - Returns: whether the expectation holds.
  @discardableResult
  public func expect<Result, each Argument>(
    _ name: Name<Result, repeat each Argument>, times: some CallCounts = 1,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line
  ) -> Bool {
    message(name).expect(times: times, fileID: fileID, filePath: filePath, line: line)
  }

  /// Waits until a number of calls have ended. Reports a failure if that takes too long, or if
  /// there were more calls.
  ///
  /// - Returns: whether the expectation holds.
  /// - Throws: `CancellationError` if the task is cancelled.
  @discardableResult
  public nonisolated(nonsending) func expect<Result, each Argument>(
    _ name: Name<Result, repeat each Argument>, times: some CallCounts = 1,
    within limit: Duration, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: Int = #line
  ) async throws -> Bool {
    try await message(name).expect(
      times: times, within: limit, fileID: fileID, filePath: filePath, line: line)
  }
}
