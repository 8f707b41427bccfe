// SPDX-License-Identifier: Apache-2.0
#if NATS
  import ForwardingRemote
  import ForwardingWire
  import Invocations

  /// The subscription by which all answers for this process arrive. It is made with the first
  /// request, so a process that only answers needs no permission for it.
  final class Inbox: Sendable {
    private let prefix: String
    private let state = Guarded(State())
    private let isSubscribed = Guarded(false)

    private struct State {
      var requests: [UInt64: Request] = [:]
      /// The permission error of the subscription, if answers cannot arrive.
      var denial: String?
    }

    typealias Answered = @Sendable (Result<[UInt8], TransportError>) -> Void

    init(_ prefix: String) {
      self.prefix = prefix + "." + String(UInt64.random(in: 0 ... .max), radix: 36) + "."
    }

    final class Request: TransportSubscription {
      let number: UInt64
      let subject: String
      let answered: Answered
      private let inbox: Inbox

      init(_ number: UInt64, _ subject: String, _ inbox: Inbox, _ answered: @escaping Answered) {
        (self.number, self.subject, self.inbox, self.answered) = (number, subject, inbox, answered)
      }

      /// The subject of the answer.
      var address: String { inbox.prefix + String(number, radix: 36) }

      func end() { inbox.remove(number) }
    }

    func add(
      _ subject: String, _ connection: NATSConnection, _ answered: @escaping Answered
    ) throws(TransportError) -> Request {
      try subscribe(connection)
      // A permission error may be known by now, and is not reported again.
      let result: Result<Request, TransportError> = state.withLockInPlace { state in
        if let denial = state.denial { return .failure(.denied(denial)) }
        // Random, so that a host that has seen one number cannot guess the next.
        var number = UInt64.random(in: 0 ... .max)
        while state.requests[number] != nil { number = UInt64.random(in: 0 ... .max) }
        let request = Request(number, subject, self, answered)
        state.requests[number] = request
        return .success(request)
      }
      return try result.get()
    }

    /// Makes the subscription, so that the server knows it before any request. There is never more
    /// than one, as the server reports a request without listeners to only one of the
    /// subscriptions.
    private func subscribe(_ connection: NATSConnection) throws(TransportError) {
      try isSubscribed.withLockInPlace { (isSubscribed) throws(TransportError) in
        if isSubscribed { return }
        try connection.subscribe(prefix + "*", group: nil) { [weak self] in self?.take($0) }
        isSubscribed = true
      }
    }

    private func remove(_ number: UInt64) {
      let old = state.withLockInPlace { $0.requests.removeValue(forKey: number) }
      withExtendedLifetime(old) {}
    }

    private func take(_ message: NATSMessage) {
      guard let number = UInt64(message.subject.dropFirst(prefix.count), radix: 36),
        let request = state.read({ $0.requests[number] })
      else { return }
      request.answered(
        message.isUnheard ? .failure(.nobodyListens) : .success(message.payload))
    }

    /// Fails the requests that a permission error concerns.
    func take(_ denial: NATSDenial) {
      let failed = state.withLockInPlace { state in
        switch denial.kind {
        case .publishing: return state.requests.values.filter { denial.concerns($0.subject) }
        case .subscribing:
          guard denial.concerns(prefix + "*") else { return [] }
          state.denial = denial.text
          return Array(state.requests.values)
        }
      }
      for request in failed { request.answered(.failure(.denied(denial.text))) }
    }

    /// Removes the permission error, as another connection may have the permission.
    func forgetDenial() { state.withLock { $0.denial = nil } }

    func failAll(_ error: TransportError) {
      for request in state.read({ Array($0.requests.values) }) {
        request.answered(.failure(error))
      }
    }
  }
#endif
