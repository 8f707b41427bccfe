// SPDX-License-Identifier: Apache-2.0
import Invocations

/// The messages of a protocol as they pass through an ``Intercepting``.
///
/// <!-- macros -->
/// ```swift
/// let watched = Intercepting<ChatDelegateProxy>(window)
/// watched.messages.chatShouldSend.before { _, text in print(text) }
/// watched.messages.chatShouldSend.around { proceed, chat, text in
///   try proceed(chat, text.uppercased())
/// }
/// watched.messages.chatShouldSend.after { answer, _, text in print("\(text): \(answer)") }
/// ```
///
/// Handlers get the arguments with the types of the protocol, and run in the same order as those of
/// an ``InterceptingProxy``.
@dynamicMemberLookup
public struct InterceptedMessages<Proxy: GeneratedProxy> {
  let proxy: InterceptingProxy

  /// A message by its name.
  public subscript<Result, each Argument>(
    dynamicMember name: KeyPath<Proxy.__Messages, Requirement<Result, repeat each Argument>>
  ) -> InterceptedMessage<Result, repeat each Argument> {
    InterceptedMessage(requirement: Proxy.__Messages()[keyPath: name], proxy: proxy)
  }
}

extension Intercepting {
  /// The messages of the protocol, for adding handlers.
  public var messages: InterceptedMessages<Proxy> { InterceptedMessages(proxy: forwarder) }
}

/// A message of a protocol that passes through an ``Intercepting``: adds handlers that run before or
/// after the target's method, or around it.
///
/// <!-- macros -->
/// ```swift
/// let watched = Intercepting<ChatDelegateProxy>(window)
/// watched.messages.chatDidReceive.after { _, message in print(message.text) }
/// ```
public struct InterceptedMessage<Result, each Argument> {
  let requirement: Requirement<Result, repeat each Argument>
  let proxy: InterceptingProxy

  /// Adds a handler that runs before the target. If it throws, the target does not get the message.
  @discardableResult
  public func before(
    _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
  ) -> ForwardingToken {
    proxy.before(requirement.selector) { [requirement] call in
      let arguments = try requirement.arguments(of: call)
      try handler(repeat each arguments)
    }
  }

  /// Adds a handler that runs in place of the target, and returns the answer. Its first argument
  /// sends the message on, with the same or other arguments, and returns the target's answer.
  @discardableResult
  public func around(
    _ handler:
      @escaping @Sendable (
        _ proceed: ProceedingMessage<Result, repeat each Argument>, repeat each Argument
      ) throws -> Result
  ) -> ForwardingToken {
    let run = { @Sendable [requirement] (rest: InterceptedCall) throws in
      let arguments = try requirement.arguments(of: rest.call)
      let result = try handler(ProceedingMessage(rest: rest), repeat each arguments)
      if rest.call.returnsValue { try rest.call.setResult(result) }
    }
    return proxy.add(requirement.selector, .around(run))
  }

  /// Adds a handler around the target that may suspend, for a requirement that is `async`: it
  /// awaits what its first argument sends on.
  @discardableResult
  public func around(
    awaiting handler:
      nonisolated(nonsending) @escaping @Sendable (
        _ proceed: ProceedingMessage<Result, repeat each Argument>, repeat each Argument
      ) async throws -> Result
  ) -> ForwardingToken {
    let requirement = requirement
    // A function: the compiler does not take a closure for one that stays with its caller here.
    @Sendable nonisolated(nonsending) func run(_ rest: InterceptedCall) async throws {
      let arguments = try requirement.arguments(of: rest.call)
      let result = try await handler(ProceedingMessage(rest: rest), repeat each arguments)
      if rest.call.returnsValue { try rest.call.setResult(result) }
    }
    return proxy.add(requirement.selector, .awaiting(run))
  }

  /// Adds a handler that runs after the target, with the answer and the arguments that the target
  /// got. These differ from the sender's if a handler around the target has replaced them.
  @discardableResult
  public func after(
    _ handler: @escaping @Sendable (_ answer: Result, repeat each Argument) throws -> Void
  ) -> ForwardingToken {
    proxy.after(requirement.selector) { [requirement] call in
      let arguments = try requirement.arguments(of: call)
      try handler(call.result(as: Result.self), repeat each arguments)
    }
  }
}

extension InterceptedMessage where Result == Void {
  /// Adds a handler that runs after the target, with the arguments that the target got.
  @discardableResult
  public func after(
    _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
  ) -> ForwardingToken {
    proxy.after(requirement.selector) { [requirement] call in
      let arguments = try requirement.arguments(of: call)
      try handler(repeat each arguments)
    }
  }
}

/// Sends an intercepted message on to its target, when it is called.
///
/// <!-- macros -->
/// ```swift
/// let watched = Intercepting<ChatDelegateProxy>(window)
/// watched.messages.chatShouldSend.around { proceed, chat, _ in try proceed(chat, "") }
/// watched.proxy.chat(chat, shouldSend: "hello")  // false
/// ```
public struct ProceedingMessage<Result, each Argument> {
  let rest: InterceptedCall

  /// Sends the message on, and returns the target's answer.
  ///
  /// - Throws: ``ForwardingError/nobodyAnswered(_:)`` if the target has no method for the message,
  ///   an ``InvocationError`` if an argument or the result cannot be passed, and any error of the
  ///   target.
  @discardableResult
  public func callAsFunction(_ arguments: repeat each Argument) throws -> Result {
    try set(repeat each arguments)
    do { try rest.proceed() } catch { throw told(error) }
    return try rest.call.result(as: Result.self)
  }

  /// Sends the message on, and awaits the target's answer.
  ///
  /// - Throws: as when it is not awaited.
  @discardableResult
  public nonisolated(nonsending) func callAsFunction(
    _ arguments: repeat each Argument
  ) async throws -> Result {
    try set(repeat each arguments)
    do { try await rest.proceedAwaiting() } catch { throw told(error) }
    return try rest.call.result(as: Result.self)
  }

  private func set(_ arguments: repeat each Argument) throws(InvocationError) {
    var index = 2
    for argument in repeat each arguments {
      try rest.call.setArgument(argument, at: index)
      index += 1
    }
  }

  /// The error for the handler. What the target leaves out is left out for its sender, too, unless
  /// the handler catches the error.
  private func told(_ error: any Error) -> any Error {
    let call = rest.call
    guard let selector = call.selector, UnansweredMessages.take(call.call, error) else {
      return error
    }
    UnansweredMessages.note(call.call)
    return ForwardingError.nobodyAnswered(selector)
  }
}

extension Requirement {
  /// Returns the arguments of one message.
  fileprivate func arguments(
    of call: Invocation
  ) throws(InvocationError) -> (repeat each Argument) {
    guard let prepared else { throw missing }
    return try prepared.arguments(of: call, as: repeat (each Argument).self)
  }
}
