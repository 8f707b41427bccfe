/// A transport whose messages stay in this process: for tests, and for programs that may be taken apart later.
///
/// ```swift
/// let transport = InProcessTransport()
/// try transport.publish([1], to: "nowhere")
/// ```
///
/// Everybody who has the same object can reach each other. A message is received on the thread that sends it.
public final class InProcessTransport: Transport {
  public let maximumPayload: Int
  private let subscriptions = SubscriptionTable()
  private let observers = TransportObservers()

  /// Makes a transport.
  public init(maximumPayload: Int = 1 << 20) { self.maximumPayload = maximumPayload }

  public func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError) {
    for listener in try listeners(to: subject, payload.count) {
      listener.receive(
        TransportMessage(payload: payload, sender: .thisProcess, answer: nil))
    }
  }

  public func request(
    _ payload: [UInt8], to subject: RemoteSubject,
    _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
  ) throws(TransportError) -> any TransportRequest {
    let listeners = try listeners(to: subject, payload.count)
    let request = AnsweredRequest(answered)
    if listeners.isEmpty { request.take(.failure(.nobodyListens)) }
    for listener in listeners {
      listener.receive(
        TransportMessage(payload: payload, sender: .thisProcess) { request.take(.success($0)) })
    }
    return request
  }

  public func subscribe(
    to subject: RemoteSubject, group: String?,
    _ receive: @escaping @Sendable (TransportMessage) -> Void
  ) throws(TransportError) -> any TransportSubscription {
    try subscriptions.add(subject, group, receive)
  }

  public func flush(within limit: Duration) async throws(TransportError) {}

  public func onChange(
    _ changed: @escaping @Sendable (TransportState) -> Void
  ) -> any TransportSubscription {
    observers.add(changed)
  }

  public func close() {
    if subscriptions.close() { observers.tell(.closed) }
  }

  private func listeners(
    to subject: RemoteSubject, _ count: Int
  ) throws(TransportError) -> [SubscriptionTable.Listener] {
    guard count <= maximumPayload else { throw .tooLarge(limit: maximumPayload, given: count) }
    return try subscriptions.listeners(to: subject)
  }
}
