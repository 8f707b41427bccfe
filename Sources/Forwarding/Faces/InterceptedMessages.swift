/// The messages of a protocol, on their way through an ``Intercepting``.
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
/// Handlers get the arguments as the protocol has them, and run as those of an ``InterceptingProxy`` do.
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
  /// The messages of the protocol, to add handlers.
  public var messages: InterceptedMessages<Face> { InterceptedMessages(proxy: proxy) }
}

/// A message of a protocol on its way to a target: handlers before, after, or instead of it.
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

  /// Adds a handler that runs before the target. One that throws ends the message.
  @discardableResult
  public func before(
    _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
  ) -> InterceptingProxy.Token {
    proxy.before(selector) { [requirement] call in
      let arguments = try requirement.arguments(of: call)
      try handler(repeat each arguments)
    }
  }

  /// Adds a handler that answers in place of the target. It gets what sends the message on, with these or other
  /// arguments, and gives the target's answer.
  @discardableResult
  public func instead(
    _ handler:
      @escaping @Sendable (
        _ proceed: ProceedingMessage<Result, repeat each Argument>, repeat each Argument
      ) throws -> Result
  ) -> InterceptingProxy.Token {
    // The proxy keeps the handler, so that refers to the proxy only while it runs.
    proxy.instead(of: selector) { [unowned proxy, requirement] call, _ in
      let arguments = try requirement.arguments(of: call)
      let result = try handler(
        ProceedingMessage(call: call, proxy: proxy), repeat each arguments)
      if call.returnsValue { try call.setResult(result) }
    }
  }

  /// Adds a handler that runs after the target, with the answer and the arguments as they were sent on: not those of
  /// the sender, where an `instead` handler went on with others.
  @discardableResult
  public func after(
    _ handler: @escaping @Sendable (_ answer: Result, repeat each Argument) throws -> Void
  ) -> InterceptingProxy.Token {
    proxy.after(selector) { [requirement] call in
      let arguments = try requirement.arguments(of: call)
      try handler(call.result(as: Result.self), repeat each arguments)
    }
  }
}

extension InterceptedMessage where Result == Void {
  /// Adds a handler that runs after the target, with the arguments as they were sent on.
  @discardableResult
  public func after(
    _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
  ) -> InterceptingProxy.Token {
    proxy.after(selector) { [requirement] call in
      let arguments = try requirement.arguments(of: call)
      try handler(repeat each arguments)
    }
  }
}

/// What a handler sends a message on with, by calling it.
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

  /// Sends the message to the target, and gives its answer.
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
  /// The arguments of one of its messages.
  fileprivate func arguments(
    of call: Invocation
  ) throws(InvocationError) -> (repeat each Argument) {
    guard let prepared else { throw missing }
    return try prepared.arguments(of: call, as: repeat (each Argument).self)
  }
}
