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
      let inbox = Inbox(options.inboxPrefix)
      self.observers = observers
      self.inbox = inbox
      connection = try NATSConnection(options) { state in
        // What was on its way may have been performed, or not.
        if state == .interrupted { inbox.failAll(.interrupted) }
        if state == .closed { inbox.failAll(.closed) }
        observers.tell(state)
      } denied: { denial in
        inbox.take(denial)
      }
    }

    deinit { connection.close() }

    public var maximumPayload: Int { connection.maximumPayload }

    /// The server's last word on what this process may not do; it comes later than the call.
    public var lastDenial: String? { connection.lastDenial }

    /// How many messages came faster than they were taken, and were let go: no more than 65,536 wait for each who
    /// listens. Whoever asked waits for its deadline.
    public var dropped: Int { connection.dropped }

    public func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError) {
      try check(payload)
      try connection.publish(payload, to: subject.name, answerTo: nil)
    }

    public func request(
      _ payload: [UInt8], to subject: RemoteSubject,
      _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
    ) throws(TransportError) -> any TransportRequest {
      try check(payload)
      let request = try inbox.add(subject.name, connection, answered)
      do throws(TransportError) {
        try connection.publish(
          payload, to: subject.name, answerTo: request.address)
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
      // It says so before it answers the flush.
      if let denial = connection.denial(ofSubscription: subject.name) {
        subscription.end()
        throw .denied(denial)
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
#endif
