public import Forwarding

// What most tests need of a message, by its key path.
extension Spy {
  /// A message of the protocol.
  public typealias Name<Result, each Argument> = KeyPath<
    Face.__Messages, Requirement<Result, repeat each Argument>
  >

  private func message<Result, each Argument>(
    _ name: Name<Result, repeat each Argument>
  ) -> SpiedMessage<Result, repeat each Argument> {
    messages[dynamicMember: name]
  }

  /// Answers with what a closure gives.
  public func answer<Result, each Argument>(
    _ name: Name<Result, repeat each Argument>,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) {
    message(name).answer(body)
  }

  /// Answers with a value.
  public func answer<Result: Sendable, each Argument>(
    _ name: Name<Result, repeat each Argument>, with value: Result
  ) {
    message(name).answer(with: value)
  }

  /// Answers with one value after the other; the last one stays.
  public func answer<Result: Sendable, each Argument>(
    _ name: Name<Result, repeat each Argument>, inTurn first: Result, _ rest: Result...
  ) {
    message(name).answer(inTurn: ([first] + rest).map { .success($0) })
  }

  /// Answers with an error.
  public func answer<Result, each Argument>(
    _ name: Name<Result, repeat each Argument>, throwing error: some Error
  ) {
    message(name).answer(throwing: error)
  }

  /// How many calls there were.
  public func calls<Result, each Argument>(_ name: Name<Result, repeat each Argument>) -> Int {
    message(name).calls
  }

  /// The arguments of all calls, in their order.
  public func received<Result, each Argument>(
    _ name: Name<Result, repeat each Argument>
  ) -> [(repeat each Argument)] where repeat each Argument: Sendable {
    message(name).received
  }

  /// The same, of types that need not be `Sendable`. That their senders use them on no other thread meanwhile is
  /// yours to see to.
  public func received<Result, each Argument>(
    unchecked name: Name<Result, repeat each Argument>
  ) -> [(repeat each Argument)] {
    message(name).uncheckedReceived
  }

  /// Fails unless there were so many calls by now.
  @discardableResult
  public func expect<Result, each Argument>(
    _ name: Name<Result, repeat each Argument>, times: Int = 1,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column
  ) -> Bool {
    message(name).expect(
      times: times, fileID: fileID, filePath: filePath, line: line, column: column)
  }

  /// Waits for the end of the last of so many calls, and fails if that was not in time, or if there were more.
  @discardableResult
  public nonisolated(nonsending) func expect<Result, each Argument>(
    _ name: Name<Result, repeat each Argument>, times: Int = 1, within limit: Duration,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column
  ) async throws -> Bool {
    try await message(name).expect(
      times: times, within: limit, fileID: fileID, filePath: filePath, line: line,
      column: column)
  }

  /// Fails at this line whenever a call comes from now on.
  public func reject<Result, each Argument>(
    _ name: Name<Result, repeat each Argument>,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column
  ) {
    message(name).reject(fileID: fileID, filePath: filePath, line: line, column: column)
  }
}
