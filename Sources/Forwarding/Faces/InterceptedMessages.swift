// SPDX-License-Identifier: Apache-2.0
/// The messages of a protocol as they pass through an ``Intercepting``.
///
/// ```
/// watched.messages.chatShouldSend.before { chat, text in
///   if text.isEmpty { throw Refused() }
/// }
/// watched.messages.chatShouldSend.instead { proceed, chat, text in
///   try proceed(chat, text.uppercased())
/// }
/// watched.messages.chatShouldSend.after { answer, chat, text in log("\(text): \(answer)") }
/// ```
///
/// Handlers get the arguments with the types of the protocol, and run in the same order as those of
/// an ``InterceptingProxy``.
///
/// ```swift
/// func log<Face: ForwardingFace>(
///   _ name: KeyPath<Face.__Messages, Requirement<Void, String>>, of watched: Intercepting<Face>
/// ) {
///   watched.messages[dynamicMember: name].before { text in print(text) }
/// }
/// ```
@dynamicMemberLookup
public struct InterceptedMessages<Face: ForwardingFace> {
  let proxy: InterceptingProxy

  /// A message by its name.
  public subscript<Result, each Argument>(
    dynamicMember name: KeyPath<Face.__Messages, Requirement<Result, repeat each Argument>>
  ) -> InterceptedMessage<Result, repeat each Argument> {
    InterceptedMessage(requirement: Face.__Messages()[keyPath: name], proxy: proxy)
  }
}

extension Intercepting {
  /// The messages of the protocol, for adding handlers.
  public var messages: InterceptedMessages<Face> { InterceptedMessages(proxy: forwarder) }
}

/// A message of a protocol that passes through an ``Intercepting``: adds handlers that run before,
/// after, or instead of the target's method.
///
/// ```swift
/// func shout<Face: ForwardingFace>(
///   _ name: KeyPath<Face.__Messages, Requirement<Void, String>>, of watched: Intercepting<Face>
/// ) {
///   watched.messages[dynamicMember: name].instead { proceed, text in
///     try proceed(text.uppercased())
///   }
/// }
/// ```
public struct InterceptedMessage<Result, each Argument>: Sendable {
  let requirement: Requirement<Result, repeat each Argument>
  let proxy: InterceptingProxy

  private var selector: Selector { requirement.selector }

  /// Adds a handler that runs before the target. If it throws, the target does not get the message.
  @discardableResult
  public func before(
    _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
  ) -> ForwardingToken {
    proxy.before(selector) { [requirement] call in
      let arguments = try requirement.arguments(of: call)
      try handler(repeat each arguments)
    }
  }

  /// Adds a handler that runs instead of the target, and returns the answer. Its first argument
  /// sends the message to the target, with the same or other arguments, and returns the target's
  /// answer.
  @discardableResult
  public func instead(
    _ handler:
      @escaping @Sendable (
        _ proceed: ProceedingMessage<Result, repeat each Argument>, repeat each Argument
      ) throws -> Result
  ) -> ForwardingToken {
    // The proxy retains the handler, so the handler does not retain the proxy: it uses the proxy
    // only while it runs.
    proxy.instead(of: selector) { [unowned proxy, requirement] call, _ in
      let arguments = try requirement.arguments(of: call)
      let result = try handler(
        ProceedingMessage(call: call, proxy: proxy), repeat each arguments)
      if call.returnsValue { try call.setResult(result) }
    }
  }

  /// Adds a handler that runs after the target, with the answer and the arguments that the target
  /// got. These differ from the sender's if an `instead` handler has replaced them.
  @discardableResult
  public func after(
    _ handler: @escaping @Sendable (_ answer: Result, repeat each Argument) throws -> Void
  ) -> ForwardingToken {
    proxy.after(selector) { [requirement] call in
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
    proxy.after(selector) { [requirement] call in
      let arguments = try requirement.arguments(of: call)
      try handler(repeat each arguments)
    }
  }
}

/// Sends an intercepted message to its target, when it is called.
///
/// ```swift
/// func shout<Face: ForwardingFace>(
///   _ name: KeyPath<Face.__Messages, Requirement<Void, String>>, of watched: Intercepting<Face>
/// ) {
///   watched.messages[dynamicMember: name].instead { proceed, text in
///     try proceed(text.uppercased())
///   }
/// }
/// ```
public struct ProceedingMessage<Result, each Argument> {
  let call: Invocation
  let proxy: InterceptingProxy

  /// Sends the message to the target, and returns its answer.
  ///
  /// - Throws: ``ForwardingError/nobodyAnswered(_:)`` if the target has no method for the message,
  ///   an ``InvocationError`` if an argument or the result cannot be passed, and any error of the
  ///   target.
  @discardableResult
  public func callAsFunction(_ arguments: repeat each Argument) throws -> Result {
    var index = 2
    for argument in repeat each arguments {
      try call.setArgument(argument, at: index)
      index += 1
    }
    do {
      try proxy.proceed(call)
    } catch {
      guard let selector = call.selector, UnansweredMessages.take(call.call, error) else {
        throw error
      }
      UnansweredMessages.note(call.call)
      throw ForwardingError.nobodyAnswered(selector)
    }
    return try call.result(as: Result.self)
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
