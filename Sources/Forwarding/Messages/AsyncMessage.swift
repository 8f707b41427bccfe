/// A message that is awaited: a selector together with Swift types, as a ``Message``, for methods that may
/// be `async`.
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
/// It calls any other method as well, at once. An `async` method runs where its sender does, unless it was
/// registered for an actor; so nothing that is sent needs to be `Sendable`. The arguments are kept until the
/// end.
public struct AsyncMessage<Result, each Argument>: Sendable {
  /// The same message, for those who do not await it.
  public let message: Message<Result, repeat each Argument>

  /// Makes a message. The selector must have a colon for each argument. The types are compared with
  /// `encoding`, or spell one.
  public init(_ selector: Selector, encoding: String? = nil) throws(InvocationError) {
    message = try Message(selector, encoding: encoding)
  }

  /// Makes one of a message.
  public init(_ message: Message<Result, repeat each Argument>) { self.message = message }

  /// The message's name.
  public var selector: Selector { message.selector }

  /// The signature that the types spell.
  public var signature: MethodSignature { message.signature }

  /// Sends the message, and awaits the answer; nil answers zero.
  @discardableResult
  public nonisolated(nonsending) func callAsFunction(
    _ arguments: repeat each Argument, on target: AnyObject?
  ) async throws -> Result {
    let call = try message.invocation(repeat each arguments)
    if let target { try await call.sendAwaiting(to: target) } else { call.answerWithZero() }
    return try call.call.answer(as: Result.self, message.prepared.result)
  }
}
