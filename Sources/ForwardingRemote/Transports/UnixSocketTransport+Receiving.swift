// SPDX-License-Identifier: Apache-2.0

// Frames of other processes. Nothing but the format of a frame is trusted.
extension UnixSocketTransport {
  /// A request in flight, and the connections that may answer it.
  struct Pending {
    let request: AnsweredRequest
    var waiting: [SocketConnection]
    /// Why a connection that might have answered does not.
    var failure: TransportError?
  }

  /// The number of connections.
  var connectionCount: Int { state.read { $0.connections.count } }

  func receive(_ frame: SocketFrame, from connection: SocketConnection) {
    switch frame.kind {
    case .told: deliver(frame, from: connection, answer: nil)
    case .asked:
      let answer: @Sendable ([UInt8]) -> Void = { [weak connection, maximumPayload] bytes in
        // Hosts answer within the limit.
        if bytes.count > maximumPayload { return }
        // If this does not arrive, the caller waits up to its deadline.
        try? connection?.send(SocketFrame(.answered, frame.number, nil, bytes).bytes)
      }
      if !deliver(frame, from: connection, answer: answer) {
        try? connection.send(SocketFrame(.nobody, frame.number, nil, []).bytes)
      }
    case .answered: request(frame.number, of: connection)?.take(.success(frame.payload))
    case .nobody: leave(frame.number, connection, .nobodyListens)
    }
  }

  /// Passes a message to its listeners. Returns false if there is none.
  @discardableResult
  private func deliver(
    _ frame: SocketFrame, from connection: SocketConnection,
    answer: (@Sendable ([UInt8]) -> Void)?
  ) -> Bool {
    let listeners = (try? subscriptions.listeners(to: frame.subject)) ?? []
    var message = TransportMessage(
      payload: frame.payload, sender: connection.peer, answer: answer)
    message.connection = ObjectIdentifier(connection)
    for listener in listeners { listener.receive(message) }
    return !listeners.isEmpty
  }

  /// The request of a number, if it was sent to the connection: other connections cannot answer it.
  private func request(_ number: UInt64, of connection: SocketConnection) -> AnsweredRequest? {
    let pending = state.read { $0.requests[number] }
    return pending?.waiting.contains { $0 === connection } == true ? pending?.request : nil
  }

  /// Notes that a connection does not answer a request, as it has no listener or failed. The request
  /// fails if it waits for no other connection; a failure counts more than that nobody listens.
  func leave(_ number: UInt64, _ connection: SocketConnection, _ error: TransportError) {
    let failed: (AnsweredRequest, TransportError)? = state.withLockInPlace { state in
      guard var pending = state.requests[number],
        let index = pending.waiting.firstIndex(where: { $0 === connection })
      else { return nil }
      pending.waiting.remove(at: index)
      if error != .nobodyListens { pending.failure = error }
      let isOver = pending.waiting.isEmpty
      // A request that has failed gets nothing more: closing would fail it once more.
      state.requests[number] = isOver ? nil : pending
      return isOver ? (pending.request, pending.failure ?? .nobodyListens) : nil
    }
    if let (request, error) = failed { request.take(.failure(error)) }
  }
}
