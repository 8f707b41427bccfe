// SPDX-License-Identifier: Apache-2.0
/// Carries messages between processes: bytes to a subject, and answers back. It knows nothing of
/// calls.
///
/// There are three: ``InProcessTransport``, ``UnixSocketTransport``, and one over NATS in a
/// separate product.
///
/// ```swift
/// let transport = InProcessTransport()
/// let echo = try transport.subscribe(to: "echo", group: nil) { message in
///   message.answer?(message.payload.reversed())
/// }
/// let request = try transport.request([1, 2, 3], to: "echo") { answer in
///   print((try? answer.get()) ?? [])  // [3, 2, 1]
/// }
/// withExtendedLifetime(request) { echo.end() }
/// ```
///
/// Closures run on threads of the transport, and must not block them.
public protocol Transport: AnyObject, Sendable {
  /// The most bytes of one message.
  var maximumPayload: Int { get }

  /// Sends a message that has no answer.
  ///
  /// - Throws: ``TransportError/interrupted`` if the connection is broken. The message is not sent
  ///   later, as its sender would not know when. Other errors say why the message cannot be
  ///   carried.
  func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError)

  /// Sends a message, and passes each answer to a closure until the request ends.
  ///
  /// ``TransportError/nobodyListens`` and interruptions arrive as answers.
  ///
  /// - Throws: ``TransportError`` if the message was not sent, and will not be:
  ///   ``TransportError/interrupted`` if the connection is already broken. What the closure got
  ///   before that has no meaning.
  func request(
    _ payload: [UInt8], to subject: RemoteSubject,
    _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
  ) throws(TransportError) -> any TransportSubscription

  /// Receives the messages of a subject. With a group, each message goes to one of the group's
  /// members.
  ///
  /// - Throws: ``TransportError/closed`` if the transport is closed; other errors if it cannot
  ///   subscribe.
  func subscribe(
    to subject: RemoteSubject, group: String?,
    _ receive: @escaping @Sendable (TransportMessage) -> Void
  ) throws(TransportError) -> any TransportSubscription

  /// Waits until all messages sent so far have left this process.
  ///
  /// - Throws: ``TransportError/timedOut`` if that takes longer than the limit;
  ///   ``TransportError/interrupted`` or ``TransportError/closed`` if messages were lost meanwhile.
  func flush(within limit: Duration) async throws(TransportError)

  /// Calls a closure for each change of the connection, until the subscription ends.
  func onChange(_ changed: @escaping @Sendable (TransportState) -> Void)
    -> any TransportSubscription

  /// Ends all subscriptions and requests. A closed transport is not opened again.
  func close()
}

/// A request, or a subscription to messages or to changes of a connection.
///
/// ```swift
/// let transport = InProcessTransport()
/// let listener = try transport.subscribe(to: "news", group: nil) { message in
///   print(message.payload)  // [1, 2]
/// }
/// try transport.publish([1, 2], to: "news")
/// listener.end()
/// try transport.publish([3], to: "news")
/// ```
public protocol TransportSubscription: AnyObject, Sendable {
  /// Ends the request or the subscription. Messages in transit may still arrive, and closures that
  /// have begun go on.
  func end()
}

/// A received message.
///
/// ```swift
/// TransportMessage(payload: [1, 2], sender: .thisProcess, answer: nil).payload  // [1, 2]
/// ```
public struct TransportMessage: Sendable {
  /// The bytes of the message.
  public let payload: [UInt8]
  /// The sender, as far as the transport knows it without relying on the message.
  public let sender: TransportPeer
  /// Sends an answer; nil if the sender does not wait for one. It does nothing if the sender is
  /// gone.
  public let answer: (@Sendable ([UInt8]) -> Void)?
  /// The connection by which it arrived; nil if the transport does not tell connections apart.
  var connection: ObjectIdentifier?

  /// Makes a message.
  public init(
    payload: [UInt8], sender: TransportPeer, answer: (@Sendable ([UInt8]) -> Void)?
  ) {
    self.payload = payload
    self.sender = sender
    self.answer = answer
  }
}

/// The sender of a message, as far as the transport knows it. What the message says about its
/// sender is not used.
///
/// ```swift
/// TransportPeer.process(id: 7, user: 0, group: 0) == .thisProcess  // false
/// ```
public enum TransportPeer: Hashable, Sendable {
  /// The message never left this process.
  case thisProcess
  /// A process of this machine, as the kernel reports it.
  case process(id: Int32, user: UInt32, group: UInt32)
  /// A client of a message server. The server's permissions decide who may publish to a subject.
  case network
}

/// A change of a connection.
///
/// ```swift
/// let transport = InProcessTransport()
/// let watch = transport.onChange { state in
///   if case .interrupted = state { print("calls in flight fail") }
/// }
/// watch.end()
/// ```
public enum TransportState: Hashable, Sendable {
  /// The connection broke, and is being restored. Requests in flight fail.
  case interrupted
  /// The connection was restored, with all subscriptions.
  case restored
  /// The connection was closed, or cannot be restored.
  case closed
}

/// Why the transport did not carry a message.
///
/// ```swift
/// TransportError.tooLarge(limit: 1024, given: 4096)  // the message has 4096 bytes, but the limit is 1024
/// ```
public enum TransportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The subject has no listener.
  case nobodyListens
  /// The message has more bytes than the transport carries.
  case tooLarge(limit: Int, given: Int)
  /// The connection broke before an answer came.
  case interrupted
  /// The transport was closed.
  case closed
  /// The limit of messages that wait to be sent is reached.
  case congested
  /// The operation took longer than its limit.
  case timedOut
  /// The connection cannot be made.
  case unreachable(String)
  /// The server does not permit the operation.
  case denied(String)
  /// Any other failure, in the words of the system or library that failed.
  case failed(String)

  public var description: String {
    switch self {
    case .nobodyListens: "no host listens"
    case .tooLarge(let limit, let given):
      "the message has \(given) bytes, but the limit is \(limit)"
    case .interrupted: "the connection broke before an answer arrived"
    case .closed: "the transport is closed"
    case .congested: "too much is waiting to be sent: try again later"
    case .timedOut: "the time limit has passed"
    case .unreachable(let reason): "the host cannot be reached: \(reason)"
    case .denied(let reason): "not allowed: \(reason)"
    case .failed(let reason): reason
    }
  }
}
