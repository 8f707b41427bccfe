#if NATS
  public import ForwardingRemote
  import Invocations

  /// A transport over NATS: to any number of processes and machines, through a server.
  ///
  /// ```
  /// let transport = try NATSTransport("nats://127.0.0.1:4222")
  /// let host = RemoteHost(transport, as: "chat")
  /// ```
  ///
  /// A subject that nobody listens to is told by the server, at once. A group is one of all processes. While the
  /// connection is broken, what is sent waits for it in a buffer.
  public final class NATSTransport: Transport {
    private let connection: NATSConnection
    private let observers: TransportObservers
    private let inbox: Inbox

    /// Connects to a server.
    public convenience init(_ url: String) throws(TransportError) {
      try self.init(NATSOptions(url))
    }

    /// Connects to a server.
    public init(_ options: NATSOptions) throws(TransportError) {
      let observers = TransportObservers()
      let inbox = Inbox()
      self.observers = observers
      self.inbox = inbox
      connection = try NATSConnection(options) { state in
        // What was on its way may have been performed, or not.
        if state == .interrupted { inbox.failAll(.interrupted) }
        if state == .closed { inbox.failAll(.closed) }
        observers.tell(state)
      }
      try connection.subscribe(inbox.prefix + "*", group: nil) { message in
        inbox.take(message)
      }
    }

    deinit { connection.close() }

    public var maximumPayload: Int { connection.maximumPayload }

    /// The server's last word on what this process may not do; it comes later than the call.
    public var lastDenial: String? { connection.lastDenial }

    public func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError) {
      try check(payload)
      try connection.publish(payload, to: subject.name, answerTo: nil)
    }

    public func request(
      _ payload: [UInt8], to subject: RemoteSubject,
      _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
    ) throws(TransportError) -> any TransportRequest {
      try check(payload)
      let request = inbox.add(answered)
      do throws(TransportError) {
        try connection.publish(
          payload, to: subject.name, answerTo: inbox.prefix + String(request.number, radix: 36))
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
      let connection = connection
      let subscription = try connection.subscribe(subject.name, group: group) { message in
        var answer: (@Sendable ([UInt8]) -> Void)?
        if let answerTo = message.answerTo {
          // Who asked waits no longer than its deadline, should this not arrive.
          answer = { try? connection.publish($0, to: answerTo, answerTo: nil) }
        }
        receive(TransportMessage(payload: message.payload, sender: .network, answer: answer))
      }
      // When this returns, the server knows it: another connection's message is not too early.
      do throws(TransportError) { try connection.flush(within: .seconds(5)) } catch {
        subscription.end()
        throw error
      }
      return subscription
    }

    public func flush(within limit: Duration) async throws(TransportError) {
      try connection.flush(within: limit)
    }

    public func onChange(
      _ changed: @escaping @Sendable (TransportState) -> Void
    ) -> any TransportSubscription {
      observers.add(changed)
    }

    public func close() { connection.close() }

    private func check(_ payload: [UInt8]) throws(TransportError) {
      let limit = maximumPayload
      guard payload.count <= limit else { throw .tooLarge(limit: limit, given: payload.count) }
    }
  }

  /// The one subscription that all answers to this process come by.
  private final class Inbox: Sendable {
    let prefix = "_INBOX." + String(UInt64.random(in: 0 ... .max), radix: 36) + "."
    private let state = Guarded(State())

    private struct State {
      var requests: [UInt64: Request] = [:]
      var number: UInt64 = 0
    }

    final class Request: TransportRequest {
      let number: UInt64
      let answered: @Sendable (Result<[UInt8], TransportError>) -> Void
      private let inbox: Inbox

      init(
        _ number: UInt64, _ inbox: Inbox,
        _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
      ) {
        (self.number, self.inbox, self.answered) = (number, inbox, answered)
      }

      func end() { inbox.remove(number) }
    }

    func add(
      _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
    ) -> Request {
      state.withLockInPlace { state in
        state.number += 1
        let request = Request(state.number, self, answered)
        state.requests[state.number] = request
        return request
      }
    }

    private func remove(_ number: UInt64) {
      let old = state.withLockInPlace { $0.requests.removeValue(forKey: number) }
      withExtendedLifetime(old) {}
    }

    func take(_ message: NATSMessage) {
      guard let number = UInt64(message.subject.dropFirst(prefix.count), radix: 36),
        let request = state.read({ $0.requests[number] })
      else { return }
      request.answered(
        message.isUnheard ? .failure(.nobodyListens) : .success(message.payload))
    }

    func failAll(_ error: TransportError) {
      for request in state.read({ Array($0.requests.values) }) {
        request.answered(.failure(error))
      }
    }
  }
#endif
