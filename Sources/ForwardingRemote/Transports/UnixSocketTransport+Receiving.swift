import Invocations

// What comes from other processes: a frame says what it is, and is believed in nothing else.
extension UnixSocketTransport {
  /// A request on its way, and from whom an answer may come.
  struct Pending {
    let request: AnsweredRequest
    var waiting: [SocketConnection]
    /// Whether somebody of this process listens, who may answer at any time.
    let isHeardHere: Bool
    /// Whether it is still being handed to connections: its sender says what becomes of it.
    var isBeingSent = true
    /// Whether somebody listens, as far as is known.
    var isHeard: Bool
    /// Why one of those who may have answered does not.
    var failure: TransportError?
    /// Whether one of them did not get it: it may be sent again, if nobody else has it.
    var isUnsent = false

    /// What it ends with, if no answer may come any more.
    var outcome: TransportError? {
      guard waiting.isEmpty, !isHeardHere, !isBeingSent else { return nil }
      return failure ?? (isHeard ? nil : isUnsent ? .unsent : .nobodyListens)
    }

    /// Notes that one of them gives no answer: nobody listens there, or it failed.
    mutating func note(_ error: TransportError?) {
      if error == .unsent { isUnsent = true } else { failure = error ?? failure }
    }
  }

  /// How many connections there are.
  var connectionCount: Int { state.read { $0.connections.count } }

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
        let limit = maximumPayload
        let answer: @Sendable ([UInt8]) -> Void = { [weak connection] bytes in
          if bytes.count > limit { return }
          // Who asked waits no longer than its deadline, should this not arrive.
          try? connection?.send(SocketFrame(.answered, frame.number, nil, bytes).bytes)
        }
        listener.receive(
          TransportMessage(payload: frame.payload, sender: connection.peer, answer: answer))
      }
    case .answered: request(frame.number, of: connection)?.take(.success(frame.payload))
    case .nobody: leave(frame.number, connection, nil)
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

  /// A connection that a request waits for gives no answer: nobody listens there, or it failed. The request fails when
  /// nobody else is waited for.
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

  /// Notes that a request was handed to all its connections, of which so many took it. Where none took it, it fails
  /// here and now, so that it may be sent again.
  func settle(_ number: UInt64, taken: Int) throws(TransportError) {
    var unsent: TransportError?
    let failed: (AnsweredRequest, TransportError)? = state.withLockInPlace { state in
      guard var pending = state.requests[number] else { return nil }
      pending.isBeingSent = false
      state.requests[number] = pending
      guard let outcome = pending.outcome else { return nil }
      if taken > 0 { return (pending.request, outcome) }
      unsent = outcome
      return nil
    }
    if let (request, error) = failed { request.take(.failure(error)) }
    if let unsent { throw unsent }
  }
}
