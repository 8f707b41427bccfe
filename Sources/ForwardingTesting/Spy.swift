// SPDX-License-Identifier: Apache-2.0
public import Forwarding
import Invocations

/// An object of a protocol for tests. It records every call, gives the configured answers, and
/// reports failed expectations.
///
/// ```
/// let spy = Spy<ChatDelegateProxy>()
/// spy.messages.chatShouldSend.answer { chat, text in text.count < 10 }
/// session.delegate = spy.face
/// session.send("hello")
/// #expect(spy.messages.chatDidReceive.received.map(\.1.text) == ["hello"])
/// ```
///
/// A message is named by its requirement. Closures get the arguments with the types of the protocol,
/// and received arguments are tuples of them.
///
/// ```swift
/// func refusing<Face: ForwardingFace>(
///   _ name: KeyPath<Face.__Messages, Requirement<Bool, String>>, _ reporter: Printing
/// ) -> Spy<Face> {
///   let spy = Spy<Face>(reportingTo: reporter)
///   spy.messages[dynamicMember: name].answer { text in text.isEmpty }
///   return spy
/// }
/// ```
public final class Spy<Face: ForwardingFace> {
  /// The object that records the calls.
  let recorder: SpyProxy
  /// The object of the protocol. It retains the proxy, so it may outlive this spy.
  public let face: Face

  /// Makes a spy, in front of an object if one is given. The object is retained, and gets the calls
  /// that the spy has no answer for. Failures belong to the running test unless there is another
  /// reporter.
  public init(
    wrapping real: Face.__Target? = nil, reportingTo reporter: any SpyReporter = TestFailures()
  ) {
    recorder = SpyProxy(wrapping: real.map { Face.__prepare($0) }, reportingTo: reporter)
    face = Face(forwardingTo: recorder)
  }

  /// The messages of the protocol, by name.
  public var messages: SpiedMessages<Face> { SpiedMessages(proxy: recorder) }

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
  public var proxy: SpyProxy { recorder }
}

extension Spy where Face: Sendable {
  /// The object that records the calls. Use it as the target of an API that knows only selectors.
  public var proxy: SpyProxy { recorder }
}

extension Spy: Sendable where Face: Sendable {}

/// The messages of a protocol, for one spy.
///
/// ```swift
/// func count<Face: ForwardingFace>(
///   _ name: KeyPath<Face.__Messages, Requirement<Void, String>>, of spy: Spy<Face>
/// ) -> Int {
///   spy.messages[dynamicMember: name].where { $0.isEmpty }.calls
/// }
/// ```
@dynamicMemberLookup
public struct SpiedMessages<Face: ForwardingFace> {
  let proxy: SpyProxy

  /// Returns the message with a name.
  public subscript<Result, each Argument>(
    dynamicMember name: KeyPath<Face.__Messages, Requirement<Result, repeat each Argument>>
  ) -> SpiedMessage<Result, repeat each Argument> {
    let requirement = Face.__Messages()[keyPath: name]
    return SpiedMessage(proxy, requirement.selector, PreparedMessage.of(requirement))
  }
}
