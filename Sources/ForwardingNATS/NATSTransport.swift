#if NATS
  import Dispatch
  public import ForwardingRemote
  import Invocations
  import Synchronization

  /// A transport over NATS: to any number of processes and machines, through a server.
  ///
  /// ```
  /// let transport = try NATSTransport("nats://127.0.0.1:4222")
  /// let host = RemoteHost(transport, as: "chat")
  /// ```
  ///
  /// A subject that nobody listens to is told by the server, at once. A group is one of all processes. While the
  /// connection is broken nothing is sent: ``TransportError/interrupted``. Answers of this process wait for it, up to 8 MB.
  public final class NATSTransport: Transport {
    private let connection: NATSConnection
    private let observers: TransportObservers
    private let inbox: Inbox
    private let held: HeldAnswers
    private let inboxRoot: String
    private let subscribeTimeout: Duration
    private let misdirections = Count()

    /// Connects to a server.
    public convenience init(_ url: String) throws(TransportError) {
      try self.init(NATSOptions(url))
    }

    /// Connects to a server.
    public init(_ options: NATSOptions) throws(TransportError) {
      guard Self.isInbox(options.inboxPrefix, options.inboxRoot) else {
        throw .failed(
          "'\(options.inboxPrefix)' is no prefix of inboxes: those begin with '\(options.inboxRoot)'"
        )
      }
      let observers = TransportObservers()
      let inbox = Inbox(options.inboxPrefix)
      let restored = Guarded<(@Sendable () -> Void)?>(nil)
      self.observers = observers
      self.inbox = inbox
      let held = HeldAnswers()
      self.held = held
      inboxRoot = options.inboxRoot
      subscribeTimeout = options.subscribeTimeout
      connection = try NATSConnection(options, keepsUnsent: false) { state in
        // What was on its way may have been performed, or not.
        if state == .interrupted { inbox.failAll(.interrupted) }
        if state == .closed { inbox.failAll(.closed) }
        if state == .restored {
          inbox.forgetDenial()
          restored.read { $0 }?()
        }
        observers.tell(state)
      } denied: { denial in
        inbox.take(denial)
      }
      restored.withLock {
        $0 = { [weak connection] in if let connection { held.sendAll(connection) } }
      }
    }

    deinit { connection.close() }

    public var maximumPayload: Int { connection.maximumPayload }

    /// The server's last word on what this process may not do; it comes later than the call.
    public var lastDenial: String? { connection.lastDenial }

    /// How many messages came faster than they were taken, and were let go: no more than 65,536 wait for each who
    /// listens. Whoever asked waits for its deadline.
    public var dropped: Int { connection.dropped }

    /// How many messages wanted their answer where no inbox is (``NATSOptions/inboxRoot``). Nobody got them.
    public var misdirected: Int { misdirections.value }

    /// Whether an answer may go to a subject: to one that begins as all inboxes do, and none where hosts, journals or
    /// the server itself do something when a message comes.
    private static func isInbox(_ subject: String, _ root: String) -> Bool {
      subject.hasPrefix(root) && !subject.hasPrefix("forwarding") && !subject.hasPrefix("$")
    }

    public func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError) {
      try check(payload, subject)
      try connection.publish(payload, to: subject.name, answerTo: nil)
    }

    public func request(
      _ payload: [UInt8], to subject: RemoteSubject,
      _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
    ) throws(TransportError) -> any TransportRequest {
      try check(payload, subject)
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
      try connection.check()
      try subject.check()
      // A name in which any character may be is one of a subject.
      let group = group.map { RemoteSubject(parts: $0) }
      try group?.check()
      let (connection, held, root) = (connection, held, inboxRoot)
      let before = connection.denialsSoFar
      let subscription = try connection.subscribe(subject.name, group: group?.name) {
        [misdirections] message in
        var answer: (@Sendable ([UInt8]) -> Void)?
        if let answerTo = message.answerTo {
          guard Self.isInbox(answerTo, root) else {
            misdirections.count()
            return
          }
          answer = { held.send($0, to: answerTo, connection) }
        }
        receive(TransportMessage(payload: message.payload, sender: .network, answer: answer))
      }
      // When this returns, the server knows it: another connection's message is not too early.
      do throws(TransportError) { try connection.flush(within: subscribeTimeout) } catch {
        subscription.stop()
        throw error
      }
      // It says so before it answers the flush.
      if let denial = connection.denial(ofSubscription: subject.name, since: before) {
        subscription.stop()
        throw .denied(denial)
      }
      return subscription
    }

    public func flush(within limit: Duration) async throws(TransportError) {
      // The library waits, and a thread of the pool must not.
      let connection = connection
      let result: Result<Void, TransportError> = await withCheckedContinuation { waiting in
        DispatchQueue(label: "forwarding.nats.flush").async {
          waiting.resume(
            returning: Result { () throws(TransportError) in try connection.complete(within: limit)
            }
          )
        }
      }
      try result.get()
    }

    public func onChange(
      _ changed: @escaping @Sendable (TransportState) -> Void
    ) -> any TransportSubscription {
      observers.add(changed)
    }

    public func close() { connection.close() }

    /// A longer subject would have the server hang up.
    private func check(_ payload: [UInt8], _ subject: RemoteSubject) throws(TransportError) {
      try connection.check()
      try subject.check()
      let limit = maximumPayload
      guard payload.count <= limit else { throw .tooLarge(limit: limit, given: payload.count) }
    }

    /// A count that closures share.
    private final class Count: Sendable {
      private let number = Atomic(0)

      var value: Int { number.load(ordering: .relaxed) }

      func count() { number.wrappingAdd(1, ordering: .relaxed) }
    }
  }
#endif
