// SPDX-License-Identifier: Apache-2.0
import Invocations

// Frames of other processes. Nothing but the format of a frame is trusted.
extension UnixSocketTransport {
  /// A request in flight, and the connections that may answer it.
  struct Pending {
    let request: AnsweredRequest
    var waiting: [SocketConnection]
    /// Whether this process has a listener, which may answer at any time.
    let isHeardHere: Bool
    /// Whether the request is still being passed to connections. Until then, its sender handles
    /// failures.
    var isBeingSent = true
    /// Whether a listener is known.
    var isHeard: Bool
    /// Why a connection that might have answered does not.
    var failure: TransportError?
    /// Whether a connection did not send the request. It may be sent again if no other has sent it.
    var isUnsent = false

    /// The error that ends the request, once no more answers can arrive.
    var outcome: TransportError? {
      guard waiting.isEmpty, !isHeardHere, !isBeingSent else { return nil }
      return failure ?? (isHeard ? nil : isUnsent ? .unsent : .nobodyListens)
    }

    /// Notes that a connection does not answer, as it has no listener (nil) or failed.
    mutating func note(_ error: TransportError?) {
      if error == .unsent { isUnsent = true } else { failure = error ?? failure }
    }
  }

  /// The number of connections.
  var connectionCount: Int { state.read { $0.connections.count } }

  func receive(_ frame: SocketFrame, from connection: SocketConnection) {
    let size = frame.payload.count
    let excess =
      size > maximumPayload ? TransportError.tooLarge(limit: maximumPayload, given: size) : nil
    switch frame.kind {
    case .told:
      // Its sender does not learn what becomes of it.
      if excess != nil { return }
      for listener in (try? subscriptions.listeners(to: frame.subject)) ?? [] {
        listener.receive(
          TransportMessage(payload: frame.payload, sender: connection.peer, answer: nil))
      }
    case .asked:
      let listeners = (try? subscriptions.listeners(to: frame.subject)) ?? []
      if listeners.isEmpty {
        try? connection.send(SocketFrame(.nobody, frame.number, nil, []).bytes)
      } else if let excess {
        let refusal = RemoteAnswer.refused(.malformed, "\(excess)", host: 0)
          .addressed(to: frame.payload)
        try? connection.send(SocketFrame(.answered, frame.number, nil, refusal).bytes)
        return
      }
      for listener in listeners {
        let limit = maximumPayload
        let answer: @Sendable ([UInt8]) -> Void = { [weak connection] bytes in
          // Hosts answer within the limit.
          if bytes.count > limit { return }
          // If this does not arrive, the caller waits up to its deadline.
          try? connection?.send(SocketFrame(.answered, frame.number, nil, bytes).bytes)
        }
        var message = TransportMessage(
          payload: frame.payload, sender: connection.peer, answer: answer)
        message.connection = ObjectIdentifier(connection)
        listener.receive(message)
      }
    case .answered:
      request(frame.number, of: connection)?
        .take(excess.map { .failure($0) } ?? .success(frame.payload))
    case .nobody: leave(frame.number, connection, nil)
    }
  }

  /// The request of a number, if it was sent to the connection: other connections cannot answer it.
  private func request(_ number: UInt64, of connection: SocketConnection) -> AnsweredRequest? {
    state.withLockInPlace { state in
      guard let pending = state.requests[number],
        pending.waiting.contains(where: { $0 === connection })
      else { return nil }
      state.requests[number]?.isHeard = true
      return pending.request
    }
  }

  /// Notes that a connection does not answer a request, as it has no listener (nil) or failed. The
  /// request fails if it waits for no other connection.
  func leave(_ number: UInt64, _ connection: SocketConnection, _ error: TransportError?) {
    let failed: (AnsweredRequest, TransportError)? = state.withLockInPlace { state in
      guard var pending = state.requests[number],
        let index = pending.waiting.firstIndex(where: { $0 === connection })
      else { return nil }
      pending.waiting.remove(at: index)
      pending.note(error)
      state.requests[number] = pending
      return pending.outcome.map { (pending.request, $0) }
    }
    if let (request, error) = failed { request.take(.failure(error)) }
  }

  /// Notes that a request was passed to all its connections, and how many took it.
  ///
  /// - Throws: The error of the request if no connection took it, so that it may be sent again. If
  ///   there was no connection, the request fails instead.
  func settle(_ number: UInt64, taken: Int) throws(TransportError) {
    var unsent: TransportError?
    let failed: (AnsweredRequest, TransportError)? = state.withLockInPlace { state in
      guard var pending = state.requests[number] else { return nil }
      pending.isBeingSent = false
      state.requests[number] = pending
      guard let outcome = pending.outcome else { return nil }
      if taken > 0 || outcome == .nobodyListens { return (pending.request, outcome) }
      unsent = outcome
      return nil
    }
    if let (request, error) = failed { request.take(.failure(error)) }
    if let unsent { throw unsent }
  }
}
