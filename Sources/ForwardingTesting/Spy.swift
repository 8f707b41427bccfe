// SPDX-License-Identifier: Apache-2.0
public import Forwarding
import Invocations

/// An object of a protocol for tests. It records every call, gives the configured answers, and
/// reports failed expectations.
///
/// ```
/// let spy = Spy<ChatDelegateProxy>()
/// spy.messages.chatShouldSend.answer { chat, text in text.count < 10 }
/// session.delegate = spy.proxy
/// session.send("hello")
/// #expect(spy.messages.chatDidReceive.received.map(\.1.text) == ["hello"])
/// ```
///
/// A message is named by its requirement. Closures get the arguments with the types of the protocol,
/// and received arguments are tuples of them.
///
/// ```swift
/// func refusing<Proxy: GeneratedProxy>(
///   _ name: KeyPath<Proxy.__Messages, Requirement<Bool, String>>, _ reporter: Printing
/// ) -> Spy<Proxy> {
///   let spy = Spy<Proxy>(reportingTo: reporter)
///   spy.messages[dynamicMember: name].answer { text in text.isEmpty }
///   return spy
/// }
/// ```
public final class Spy<Proxy: GeneratedProxy> {
  /// The object that records the calls.
  let recorder: SpyProxy
  /// The object of the protocol. It retains the proxy, so it may outlive this spy.
  public let proxy: Proxy

  /// Makes a spy, in front of an object if one is given. The object is retained, and gets the calls
  /// that the spy has no answer for. Failures belong to the running test unless there is another
  /// reporter.
  public init(
    wrapping real: Proxy.__Target? = nil, reportingTo reporter: any SpyReporter = TestFailures()
  ) {
    recorder = SpyProxy(wrapping: real.map { Proxy.__prepare($0) }, reportingTo: reporter)
    proxy = Proxy(forwardingTo: recorder)
  }

  /// The messages of the protocol, by name.
  public var messages: SpiedMessages<Proxy> { SpiedMessages(untyped: recorder) }

  /// All calls in their order, as text.
  public var transcript: [String] { recorder.transcript }

  /// Removes all recorded calls. Answers and expectations stay.
  public func forgetCalls() { recorder.forgetCalls() }

  /// Removes all configuration, such as answers. Recorded calls stay.
  public func forgetAnswers() { recorder.forgetAnswers() }
}

extension Spy {
  /// The object that records the calls. Use it as the target of an API that knows only selectors.
  ///
  /// - Safety: it gives the object that it wraps, and the values of the calls, to any thread. Where
  ///   the protocol is not `Sendable`, no other thread may use it.
  @unsafe
  public var untyped: SpyProxy { recorder }
}

extension Spy: Sendable where Proxy: Sendable {
  /// The object that records the calls. Use it as the target of an API that knows only selectors.
  public var untyped: SpyProxy { recorder }
}

/// The messages of a protocol, for one spy.
///
/// ```swift
/// func count<Proxy: GeneratedProxy>(
///   _ name: KeyPath<Proxy.__Messages, Requirement<Void, String>>, of spy: Spy<Proxy>
/// ) -> Int {
///   spy.messages[dynamicMember: name].where { $0.isEmpty }.calls
/// }
/// ```
@dynamicMemberLookup
public struct SpiedMessages<Proxy: GeneratedProxy> {
  let untyped: SpyProxy

  /// Returns the message with a name.
  public subscript<Result, each Argument>(
    dynamicMember name: KeyPath<Proxy.__Messages, Requirement<Result, repeat each Argument>>
  ) -> SpiedMessage<Result, repeat each Argument> {
    let requirement = Proxy.__Messages()[keyPath: name]
    return SpiedMessage(untyped, requirement.selector, requirement.prepared)
  }
}
