/// What carries messages between processes: bytes to a subject, and answers back. It knows nothing of calls.
///
/// There are three: ``InProcessTransport``, ``UnixSocketTransport``, and NATS, in a product of its own.
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
  /// The most bytes that one message may have.
  var maximumPayload: Int { get }

  /// Sends a message that nobody answers. Where the connection is broken it is ``TransportError/interrupted``, and
  /// not sent later: nobody would know how much later.
  func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError)

  /// Sends a message, and gives each answer to a closure until the request is ended.
  /// ``TransportError/nobodyListens`` comes as an answer, as do ``TransportError/unsent`` and interruptions. An interruption
  /// is thrown where the connection is broken already, and the message is not sent later.
  func request(
    _ payload: [UInt8], to subject: RemoteSubject,
    _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
  ) throws(TransportError) -> any TransportRequest

  /// Gets the messages of a subject. With a group, each message goes to one of the group's members.
  func subscribe(
    to subject: RemoteSubject, group: String?,
    _ receive: @escaping @Sendable (TransportMessage) -> Void
  ) throws(TransportError) -> any TransportSubscription

  /// Waits until what was sent has left this process.
  func flush(within limit: Duration) async throws(TransportError)

  /// Tells what becomes of the connection, until the subscription ends.
  func onChange(_ changed: @escaping @Sendable (TransportState) -> Void)
    -> any TransportSubscription

  /// Ends all subscriptions and requests, for good.
  func close()
}

/// A request that answers may still come to.
///
/// ```swift
/// let transport = InProcessTransport()
/// let request = try transport.request([1], to: "nowhere") { answer in
///   if case .failure(let error) = answer { print(error) }  // nobody listens
/// }
/// request.end()
/// ```
public protocol TransportRequest: AnyObject, Sendable {
  /// Takes no more answers.
  func end()
}

/// Somebody who listens.
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
  /// Takes no more messages, but for those that are on their way. Those that have begun go on.
  func end()
}

/// A message that came.
///
/// ```swift
/// TransportMessage(payload: [1, 2], sender: .thisProcess, answer: nil).payload  // [1, 2]
/// ```
public struct TransportMessage: Sendable {
  /// What was sent.
  public let payload: [UInt8]
  /// Who sent it, as far as the transport knows for itself.
  public let sender: TransportPeer
  /// Sends an answer back; nil where nobody waits for one. It does nothing where the sender is gone.
  public let answer: (@Sendable ([UInt8]) -> Void)?

  /// Makes a message.
  public init(
    payload: [UInt8], sender: TransportPeer, answer: (@Sendable ([UInt8]) -> Void)?
  ) {
    self.payload = payload
    self.sender = sender
    self.answer = answer
  }
}

/// Who sent a message, as the transport itself can tell. Nothing that a message says of itself is in it.
///
/// ```swift
/// TransportPeer.process(id: 7, user: 0, group: 0)  // process 7 of user 0
/// ```
public enum TransportPeer: Hashable, Sendable, CustomStringConvertible {
  /// The message never left this process.
  case thisProcess
  /// A process of this machine, as the kernel says.
  case process(id: Int32, user: UInt32, group: UInt32)
  /// Somebody whom a server let in. The server's permissions say who may publish to a subject.
  case network

  public var description: String {
    switch self {
    case .thisProcess: "this process"
    case .process(let id, let user, _): "process \(id) of user \(user)"
    case .network: "the network"
    }
  }
}

/// What becomes of a connection.
///
/// ```swift
/// let transport = InProcessTransport()
/// let watch = transport.onChange { state in
///   if case .interrupted = state { print("what is on its way fails") }
/// }
/// watch.end()
/// ```
public enum TransportState: Hashable, Sendable {
  /// The connection broke and is being made again. Requests on their way fail.
  case interrupted
  /// It is there again, with all subscriptions.
  case restored
  /// It was closed, or cannot be made again.
  case closed
}

/// Why a message was not carried.
///
/// ```swift
/// TransportError.tooLarge(limit: 1024, given: 4096)  // 4096 bytes are given, and 1024 are the limit
/// ```
public enum TransportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Nobody has subscribed to the subject.
  case nobodyListens
  /// The message has more bytes than the transport carries.
  case tooLarge(limit: Int, given: Int)
  /// The connection broke before an answer came.
  case interrupted
  /// The connection broke while the message waited to be sent: nobody has got it.
  case unsent
  /// The transport was closed.
  case closed
  /// More is waiting to be sent than may.
  case congested
  /// It took longer than it may.
  case timedOut
  /// The connection cannot be made.
  case unreachable(String)
  /// This process is a child of the one whose transport it is: it makes its own, after `exec`.
  case forked
  /// The server does not let this process do that.
  case denied(String)
  /// Anything else, in the words of what failed.
  case failed(String)

  public var description: String {
    switch self {
    case .nobodyListens: "nobody listens"
    case .tooLarge(let limit, let given):
      "\(given) bytes are given, and \(limit) are the limit"
    case .interrupted: "the connection broke before an answer came"
    case .unsent: "the connection broke before the message was sent"
    case .closed: "the transport is closed"
    case .congested: "more is waiting to be sent than may"
    case .timedOut: "it took longer than it may"
    case .unreachable(let reason): "cannot be reached: \(reason)"
    case .forked: "the transport belongs to the process that this one was forked from"
    case .denied(let reason): "not allowed: \(reason)"
    case .failed(let reason): reason
    }
  }
}
