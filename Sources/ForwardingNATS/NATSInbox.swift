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

    private struct State {
      var requests: [UInt64: Request] = [:]
      /// The subscription; another one that was made meanwhile counts for nothing.
      var subscription: UInt64?
      /// The subscription of a direct one.
      var queue: NATSQueue?
      /// Why answers cannot come.
      var denial: String?
    }

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
      let (isBusy, isNew) = state.read {
        (kind == .direct && !$0.requests.isEmpty, $0.subscription == nil)
      }
      if isBusy { return nil }
      if isNew, try !subscribe(connection) { return nil }
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

    /// The server hears of it before any request: two callers may both make one, and each does so before it sends.
    private func subscribe(_ connection: NATSConnection) throws(TransportError) -> Bool {
      let number = UInt64.random(in: 0 ... .max)
      switch kind {
      case .direct:
        let queue = try connection.subscribeDirectly(prefix + "*") { [weak self] message in
          if let message { self?.take(message, from: number) } else { self?.takeUnheard(number) }
        }
        guard let queue else { return false }
        let isFirst = state.withLockInPlace { state in
          guard state.subscription == nil else { return false }
          (state.subscription, state.queue) = (number, queue)
          return true
        }
        if isFirst { connection.take(from: queue) } else { queue.stop() }
      case .shared:
        let made = try connection.subscribe(prefix + "*", group: nil, isOfAnswers: true) {
          [weak self] message in
          self?.take(message, from: number)
        }
        let isFirst = state.withLockInPlace { state in
          if state.subscription == nil { state.subscription = number }
          return state.subscription == number
        }
        if !isFirst { made.stop() }
      }
      return true
    }

    /// Ends a request. Where a direct one was not answered, that nobody listens may come later, and would be taken for the
    /// word on the next request: that gets another subscription.
    private func remove(_ number: UInt64, isSettled: Bool) {
      let (old, queue) = state.withLockInPlace { state in
        let old = state.requests.removeValue(forKey: number)
        guard kind == .direct, old != nil, !isSettled else { return (old, NATSQueue?.none) }
        let queue = state.queue
        (state.subscription, state.queue) = (nil, nil)
        return (old, queue)
      }
      queue?.stop()
      withExtendedLifetime(old) {}
    }

    private func take(_ message: NATSMessage, from subscription: UInt64) {
      guard let number = message.number,
        let request = state.read({ $0.subscription == subscription ? $0.requests[number] : nil })
      else { return }
      request.take(message.isUnheard ? .failure(.nobodyListens) : .success(message.payload))
    }

    /// That nobody listens, of the one request that there is.
    private func takeUnheard(_ subscription: UInt64) {
      let request = state.read {
        $0.subscription == subscription ? $0.requests.values.first : nil
      }
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
