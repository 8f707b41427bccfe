import Invocations

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
  /// Requests that an answer may still come to; nil when the transport is closed.
  private let waiting: Guarded<[ObjectIdentifier: AnsweredRequest]?>
  /// Lets go of one: a closure for all of them, as each would have to be made.
  private let forget: @Sendable (AnsweredRequest) -> Void

  /// Makes a transport.
  public init(maximumPayload: Int = 1 << 20) {
    self.maximumPayload = maximumPayload
    let waiting = Guarded<[ObjectIdentifier: AnsweredRequest]?>([:])
    self.waiting = waiting
    forget = { request in
      let old = waiting.withLockInPlace { $0?.removeValue(forKey: ObjectIdentifier(request)) }
      withExtendedLifetime(old) {}
    }
  }

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
    // Most have all their answers by now, and need not be known.
    if request.answers < listeners.count { wait(for: request) }
    return request
  }

  /// Keeps a request until it ends, or the transport is closed.
  private func wait(for request: AnsweredRequest) {
    request.whenEnded(forget)
    let isOpen = waiting.withLockInPlace { waiting in
      waiting?[ObjectIdentifier(request)] = request
      return waiting != nil
    }
    if !isOpen { request.take(.failure(.closed)) }
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
    guard subscriptions.close() else { return }
    let left = waiting.withLockInPlace { waiting in
      defer { waiting = nil }
      return waiting
    }
    for request in left?.values ?? [:].values { request.take(.failure(.closed)) }
    observers.tell(.closed)
  }

  private func listeners(
    to subject: RemoteSubject, _ count: Int
  ) throws(TransportError) -> [SubscriptionTable.Listener] {
    guard count <= maximumPayload else { throw .tooLarge(limit: maximumPayload, given: count) }
    return try subscriptions.listeners(to: subject)
  }
}
