// SPDX-License-Identifier: Apache-2.0
public import Invocations

/// A message that is awaited: a selector together with Swift types, like a ``Message``, for methods
/// that may be `async`.
///
/// ```swift
/// try MethodTable.of(Account.self).register("audit:") { (self: Account, years: Int) in
///   await Task.yield()
///   return "\(years) years, balance \(self.balance)"
/// }
/// let audit = try AsyncMessage<String, Int>("audit:")
/// try await audit(3, on: account)    // 3 years, balance 100
/// try audit.message(3, on: account)  // throws: 'audit:' is async: await it, with an AsyncMessage
/// ```
///
/// A synchronous method is called without suspending. An `async` method runs in the sender's
/// isolation domain, unless it was registered for an actor; so the values of the message need not
/// be `Sendable`. The arguments are retained until the method ends.
public struct AsyncMessage<Result, each Argument>: Sendable {
  /// The same message, for sending it without awaiting.
  public let message: Message<Result, repeat each Argument>

  /// Creates a message. The selector must have a colon for each argument. The types are compared
  /// with `encoding`; if that is nil, they determine it.
  ///
  /// - Throws: an ``InvocationError`` if the selector, the encoding and the types do not fit each
  ///   other.
  public init(_ selector: Selector, encoding: String? = nil) throws(InvocationError) {
    message = try Message(selector, encoding: encoding)
  }

  /// Creates an awaited message from a message.
  public init(_ message: Message<Result, repeat each Argument>) { self.message = message }

  /// Sends the message, and awaits the answer. A nil target answers zero.
  ///
  /// - Throws: the error of the target, or an ``InvocationError`` if the message cannot be sent.
  @inlinable
  @discardableResult
  public nonisolated(nonsending) func callAsFunction(
    _ arguments: repeat each Argument, on target: AnyObject?
  ) async throws -> Result {
    let call = try message.invocation(repeat each arguments)
    if let target { try await call.sendAwaiting(to: target) } else { call.call.answerWithZero() }
    return try call.call.fittingAnswer(as: Result.self, message.prepared.result)
  }
}
