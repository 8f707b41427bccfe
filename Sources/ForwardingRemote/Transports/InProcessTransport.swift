// SPDX-License-Identifier: Apache-2.0
import Invocations

/// A transport within one process: for tests, and for programs that may be split into processes
/// later.
///
/// ```swift
/// let transport = InProcessTransport()
/// try transport.publish([1], to: "nowhere")
/// ```
///
/// All users of the same object reach each other. A message is received on the thread that sends
/// it.
public final class InProcessTransport: Transport {
  public let maximumPayload: Int
  private let subscriptions = SubscriptionTable()
  private let observers = TransportObservers()
  /// Requests that may still get answers; nil once the transport is closed.
  private let waiting = Guarded<[ObjectIdentifier: AnsweredRequest]?>([:])

  /// Makes a transport that carries messages of at most `maximumPayload` bytes.
  public init(maximumPayload: Int = 1 << 20) {
    self.maximumPayload = maximumPayload
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
    // Most requests have all their answers by now, and need not be registered.
    if request.answers < listeners.count { wait(for: request) }
    return request
  }

  /// Retains a request until it ends or the transport is closed.
  private func wait(for request: AnsweredRequest) {
    request.whenEnded { [waiting] request in
      let old = waiting.withLockInPlace { $0?.removeValue(forKey: ObjectIdentifier(request)) }
      withExtendedLifetime(old) {}
    }
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
    return try subscriptions.listeners(to: subject.number)
  }
}
