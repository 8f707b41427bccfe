// SPDX-License-Identifier: Apache-2.0
public import Forwarding
import Invocations

// Awaited messages: `async` requirements.
extension SpyProxy {
  /// Records the message, and awaits its answer.
  nonisolated(nonsending) func respondAwaiting(_ invocation: Invocation) async throws {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    let (note, stamp) = try tapes.keep(invocation.call, open: true)
    defer { end(stamp) }
    let choice = choose(invocation.call, stamp, selector, note as? SpyScript)
    if let delay = choice?.delay, delay > .zero { try await Task.sleep(for: delay) }
    switch choice?.step {
    case .body(let method): try await invocation.answerAwaiting(by: method, for: self)
    case .leftOut: throw UnansweredMessages.leftOut
    case .real, nil:
      guard let real else { return try leaveUnanswered(invocation.call, selector) }
      try await invocation.sendAwaiting(to: real)
    }
  }
}

// Answers that suspend. They run on the actor of the caller. There is one function for each number
// of arguments, because Swift 6.3 cannot compile a suspending closure of a parameter pack alone.

extension SpyProxy {
  /// Answers a message without arguments with the result of a closure that may suspend.
  public func answer<Result>(
    _ message: SpiedMessage<Result>,
    awaiting body: nonisolated(nonsending) @escaping @Sendable () async throws -> Result
  ) {
    let method = try? Implementation(asyncMethod: {
      (_: SpyProxy) in
      try await body()
    })
    message.add(awaiting: method)
  }

  /// Answers a message of one argument with the result of a closure that may suspend.
  public func answer<Result, A>(
    _ message: SpiedMessage<Result, A>,
    awaiting body: nonisolated(nonsending) @escaping @Sendable (A) async throws -> Result
  ) {
    let method = try? Implementation(asyncMethod: {
      (_: SpyProxy, a: A) in
      try await body(a)
    })
    message.add(awaiting: method)
  }

  /// Answers a message of two arguments with the result of a closure that may suspend.
  public func answer<Result, A, B>(
    _ message: SpiedMessage<Result, A, B>,
    awaiting body: nonisolated(nonsending) @escaping @Sendable (A, B) async throws -> Result
  ) {
    let method = try? Implementation(asyncMethod: {
      (_: SpyProxy, a: A, b: B) in
      try await body(a, b)
    })
    message.add(awaiting: method)
  }

  /// Answers a message of three arguments with the result of a closure that may suspend.
  public func answer<Result, A, B, C>(
    _ message: SpiedMessage<Result, A, B, C>,
    awaiting body: nonisolated(nonsending) @escaping @Sendable (A, B, C) async throws -> Result
  ) {
    let method = try? Implementation(asyncMethod: {
      (_: SpyProxy, a: A, b: B, c: C) in
      try await body(a, b, c)
    })
    message.add(awaiting: method)
  }

  /// Answers a message of four arguments with the result of a closure that may suspend.
  public func answer<Result, A, B, C, D>(
    _ message: SpiedMessage<Result, A, B, C, D>,
    awaiting body: nonisolated(nonsending) @escaping @Sendable (A, B, C, D) async throws -> Result
  ) {
    let method = try? Implementation(asyncMethod: {
      (_: SpyProxy, a: A, b: B, c: C, d: D) in
      try await body(a, b, c, d)
    })
    message.add(awaiting: method)
  }
}

extension Spy {
  /// Answers an `async` requirement without arguments with the result of a closure that may
  /// suspend.
  public func answer<Result>(
    _ name: KeyPath<Face.__Messages, Requirement<Result>>,
    awaiting body: nonisolated(nonsending) @escaping @Sendable () async throws -> Result
  ) {
    proxy.answer(messages[dynamicMember: name], awaiting: body)
  }

  /// Answers an `async` requirement of one argument with the result of a closure that may suspend.
  public func answer<Result, A>(
    _ name: KeyPath<Face.__Messages, Requirement<Result, A>>,
    awaiting body: nonisolated(nonsending) @escaping @Sendable (A) async throws -> Result
  ) {
    proxy.answer(messages[dynamicMember: name], awaiting: body)
  }

  /// Answers an `async` requirement of two arguments with the result of a closure that may suspend.
  public func answer<Result, A, B>(
    _ name: KeyPath<Face.__Messages, Requirement<Result, A, B>>,
    awaiting body: nonisolated(nonsending) @escaping @Sendable (A, B) async throws -> Result
  ) {
    proxy.answer(messages[dynamicMember: name], awaiting: body)
  }

  /// Answers an `async` requirement of three arguments with the result of a closure that may
  /// suspend.
  public func answer<Result, A, B, C>(
    _ name: KeyPath<Face.__Messages, Requirement<Result, A, B, C>>,
    awaiting body: nonisolated(nonsending) @escaping @Sendable (A, B, C) async throws -> Result
  ) {
    proxy.answer(messages[dynamicMember: name], awaiting: body)
  }

  /// Answers an `async` requirement of four arguments with the result of a closure that may
  /// suspend.
  public func answer<Result, A, B, C, D>(
    _ name: KeyPath<Face.__Messages, Requirement<Result, A, B, C, D>>,
    awaiting body: nonisolated(nonsending) @escaping @Sendable (A, B, C, D) async throws -> Result
  ) {
    proxy.answer(messages[dynamicMember: name], awaiting: body)
  }
}

extension SpiedMessage {
  /// The method is nil if the message has types that cannot be passed. Its caller gets an error
  /// then.
  fileprivate func add(awaiting method: Implementation?) {
    add([method.map { .body($0) }], .max)
  }
}
