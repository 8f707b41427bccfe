#if NATS
  import ForwardingRemote
  import Invocations
  import Synchronization

  /// Where answers to this process come. The subscription is there from the first request on: a process that only answers
  /// needs no permission for it.
  final class Inbox: Sendable {
    /// Whose answers are taken where they are read.
    enum Kind {
      /// Of one request at a time, which therefore has them sooner.
      case direct
      /// Nobody's: all others come by this one.
      case shared
    }

    private let kind: Kind
    private let prefix: String
    private let state = Guarded(State())
    private let isMade = Announcement()

    private struct State {
      var requests: [UInt64: Request] = [:]
      var subscription = Subscription.none
      /// How many subscriptions there were.
      var turn = 0
      /// The subscription of a direct one.
      var queue: NATSQueue?
      /// Why answers cannot come.
      var denial: String?
    }

    private enum Subscription { case none, beingMade, made }

    init(_ prefix: String, _ kind: Kind) {
      self.kind = kind
      self.prefix = prefix + "." + String(UInt64.random(in: 0 ... .max), radix: 36) + "."
    }

    final class Request: TransportRequest {
      let number: UInt64
      let subject: String
      private let answered: @Sendable (Result<[UInt8], TransportError>) -> Void
      private let inbox: Inbox
      private let isSettled = Atomic(false)

      init(
        _ number: UInt64, _ subject: String, _ inbox: Inbox,
        _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
      ) {
        (self.number, self.subject, self.inbox, self.answered) = (number, subject, inbox, answered)
      }

      /// Where answers go.
      var address: String { inbox.prefix + String(number, radix: 36) }

      /// Takes what the other side, or the server, says.
      func take(_ answer: Result<[UInt8], TransportError>) {
        isSettled.store(true, ordering: .relaxed)
        answered(answer)
      }

      /// Takes why it was given up.
      func fail(_ error: TransportError) { answered(.failure(error)) }

      func end() { inbox.remove(number, isSettled: isSettled.load(ordering: .relaxed)) }
    }

    /// Makes a request; nil where this inbox has one already, and takes no other meanwhile.
    func add(
      _ subject: String, _ connection: NATSConnection,
      _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
    ) throws(TransportError) -> Request? {
      let (isBusy, isThere) = state.read {
        (kind == .direct && !$0.requests.isEmpty, $0.subscription == .made)
      }
      if isBusy { return nil }
      if !isThere, try !subscribe(connection) { return nil }
      // What is not allowed may be known by now, and is not told again.
      let result: Result<Request?, TransportError> = state.withLockInPlace { state in
        if let denial = state.denial { return .failure(.denied(denial)) }
        if kind == .direct, !state.requests.isEmpty || state.queue == nil { return .success(nil) }
        // Drawn, as a host that has seen one of them could tell the next ones otherwise.
        var number = UInt64.random(in: 0 ... .max)
        while state.requests[number] != nil { number = UInt64.random(in: 0 ... .max) }
        let request = Request(number, subject, self, answered)
        state.requests[number] = request
        return .success(request)
      }
      return try result.get()
    }

    /// The server hears of it before any request. There is never more than one, not even for a moment: the word that
    /// nobody listens goes to any one of those that the server has. False where the connection has none of this kind.
    private func subscribe(_ connection: NATSConnection) throws(TransportError) -> Bool {
      let own: Int? = state.wait(until: isMade) { state in
        if state.subscription == .beingMade { return .until(.max) }
        guard state.subscription == .none else { return .done(nil) }
        state.subscription = .beingMade
        state.turn += 1
        return .done(state.turn)
      }
      guard let turn = own else { return true }
      var queue: NATSQueue?
      var made = Subscription.none
      defer {
        state.withLockInPlace { state in
          (state.subscription, state.queue) = (made, queue)
          isMade.announce()
        }
      }
      switch kind {
      case .direct:
        queue = try connection.subscribeDirectly(prefix + "*") { [weak self] message in
          if let message { self?.take(message) } else { self?.takeUnheard(turn) }
        }
        guard let queue else { return false }
        connection.take(from: queue)
      case .shared:
        try connection.subscribe(prefix + "*", group: nil, isOfAnswers: true) {
          [weak self] message in self?.take(message)
        }
      }
      made = .made
      return true
    }

    /// Ends a request. Where a direct one was not answered, that nobody listens may come later, and would be taken for the
    /// word on the next request: that gets another subscription.
    private func remove(_ number: UInt64, isSettled: Bool) {
      let (old, queue) = state.withLockInPlace { state in
        let old = state.requests.removeValue(forKey: number)
        guard kind == .direct, old != nil, !isSettled else { return (old, NATSQueue?.none) }
        let queue = state.queue
        (state.subscription, state.queue) = (.none, nil)
        return (old, queue)
      }
      queue?.stop()
      withExtendedLifetime(old) {}
    }

    private func take(_ message: NATSMessage) {
      guard let number = message.number, let request = state.read({ $0.requests[number] })
      else { return }
      request.take(message.isUnheard ? .failure(.nobodyListens) : .success(message.payload))
    }

    /// That nobody listens, of the one request that there is: if that is not another one's word, which came late.
    private func takeUnheard(_ turn: Int) {
      let request = state.read { $0.turn == turn ? $0.requests.values.first : nil }
      request?.take(.failure(.nobodyListens))
    }

    /// What the server does not allow: requests that it concerns fail.
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
      for request in failed { request.fail(.denied(denial.text)) }
    }

    /// Another connection may be allowed what the last one was not.
    func forgetDenial() { state.withLock { $0.denial = nil } }

    func failAll(_ error: TransportError) {
      for request in state.read({ Array($0.requests.values) }) { request.fail(error) }
    }
  }
#endif
