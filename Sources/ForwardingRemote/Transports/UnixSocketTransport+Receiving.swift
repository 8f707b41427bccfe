import Invocations

// What comes from other processes: a frame says what it is, and is believed in nothing else.
extension UnixSocketTransport {
  func receive(_ frame: SocketFrame, from connection: SocketConnection) {
    switch frame.kind {
    case .told:
      for listener in (try? subscriptions.listeners(to: frame.subject)) ?? [] {
        listener.receive(
          TransportMessage(payload: frame.payload, sender: connection.peer, answer: nil))
      }
    case .asked:
      let listeners = (try? subscriptions.listeners(to: frame.subject)) ?? []
      if listeners.isEmpty {
        try? connection.send(SocketFrame(.nobody, frame.number, nil, []).bytes)
      }
      for listener in listeners {
        let answer: @Sendable ([UInt8]) -> Void = { [weak connection] bytes in
          // Who asked waits no longer than its deadline, should this not arrive.
          try? connection?.send(SocketFrame(.answered, frame.number, nil, bytes).bytes)
        }
        listener.receive(
          TransportMessage(payload: frame.payload, sender: connection.peer, answer: answer))
      }
    case .answered: request(frame.number, of: connection)?.take(.success(frame.payload))
    case .nobody: nobody(frame.number, connection)
    }
  }

  /// A request that was sent to a connection: no other may answer it.
  private func request(_ number: UInt64, of connection: SocketConnection) -> AnsweredRequest? {
    state.withLockInPlace { state in
      guard let pending = state.requests[number],
        pending.waiting.contains(where: { $0 === connection })
      else { return nil }
      state.requests[number]?.isHeard = true
      return pending.request
    }
  }

  private func nobody(_ number: UInt64, _ connection: SocketConnection) {
    let unheard: AnsweredRequest? = state.withLockInPlace { state in
      guard var pending = state.requests[number] else { return nil }
      pending.waiting.removeAll { $0 === connection }
      state.requests[number] = pending
      return pending.waiting.isEmpty && !pending.isHeard ? pending.request : nil
    }
    unheard?.take(.failure(.nobodyListens))
  }
}
