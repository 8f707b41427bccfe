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
  private let observers = TransportObservers<TransportState>()

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
  ) throws(TransportError) -> any TransportSubscription {
    let request = AnsweredRequest(answered)
    // Before the listeners are known: closing removes those, and tells the observers then.
    let watch = observers.add { _ in
      request.take(.failure(.closed))
      request.end()
    }
    request.whenEnded { _ in watch.end() }
    do throws(TransportError) {
      let listeners = try listeners(to: subject, payload.count)
      if listeners.isEmpty { request.take(.failure(.nobodyListens)) }
      for listener in listeners {
        listener.receive(
          TransportMessage(payload: payload, sender: .thisProcess) { request.take(.success($0)) })
      }
    } catch {
      request.end()
      throw error
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
  ) -> any TransportSubscription { observers.add(changed) }

  public func close() { if subscriptions.close() { observers.tell(.closed) } }

  private func listeners(
    to subject: RemoteSubject, _ count: Int
  ) throws(TransportError) -> [SubscriptionTable.Listener] {
    guard count <= maximumPayload else { throw .tooLarge(limit: maximumPayload, given: count) }
    return try subscriptions.listeners(to: subject.number)
  }
}
