// SPDX-License-Identifier: Apache-2.0
#if NATS
  import Dispatch
  public import ForwardingRemote
  import Invocations

  /// A transport over NATS: to any number of processes and machines, through a server.
  ///
  /// ```
  /// let transport = try NATSTransport("nats://127.0.0.1:4222")
  /// let host = RemoteHost(transport, as: "chat")
  /// ```
  ///
  /// The server reports at once that a subject has no listener. A group extends over all processes.
  /// While the connection is broken, messages are not sent, with the error
  /// ``TransportError/interrupted``. Answers of this process are dropped then, and their callers
  /// wait up to their deadlines.
  public final class NATSTransport: Transport {
    private let connection: NATSConnection
    private let observers = TransportObservers<TransportState>()
    private let inbox: Inbox
    private let subscribeTimeout: Duration
    private let misdirections = Guarded(0)

    /// Connects to a server at an address, with the default options.
    ///
    /// - Throws: `TransportError.unreachable` if there is no connection; `TransportError.denied` if
    ///   the server refuses the credentials.
    public convenience init(_ url: String) throws(TransportError) {
      try self.init(NATSOptions(url))
    }

    /// Connects to a server.
    ///
    /// - Throws: `TransportError.unreachable` if there is no connection; `TransportError.denied` if
    ///   the server refuses the credentials; `TransportError.failed` if ``NATSOptions/inboxPrefix``
    ///   or another option is not valid.
    public init(_ options: NATSOptions) throws(TransportError) {
      guard options.inboxPrefix.hasPrefix(Self.inboxes) else {
        throw .failed(
          "the inbox prefix '\(options.inboxPrefix)' does not begin with '\(Self.inboxes)'")
      }
      inbox = Inbox(options.inboxPrefix)
      subscribeTimeout = options.subscribeTimeout
      connection = try NATSConnection(options) { [inbox, observers] state in
        switch state {
        // Requests in flight may or may not have been performed.
        case .interrupted: inbox.failAll(.interrupted)
        case .closed: inbox.failAll(.closed)
        case .restored: inbox.forgetDenial()
        }
        observers.tell(state)
      } denied: { [inbox] denial in
        inbox.take(denial)
      }
    }

    deinit { connection.close() }

    public var maximumPayload: Int { connection.maximumPayload }

    /// The last permission error that the server reported. It arrives after the call that caused
    /// it.
    public var lastDenial: String? { connection.lastDenial }

    /// The number of messages that were dropped because they arrived faster than they were
    /// received: at most 65,536 messages wait for each subscription. Callers of dropped messages
    /// wait up to their deadline.
    public var dropped: Int { connection.dropped }

    /// The number of messages that were dropped because their answer was not to go to an inbox (see
    /// ``NATSOptions/inboxPrefix``).
    public var misdirected: Int { misdirections.read { $0 } }

    /// Answers are only sent to subjects with this prefix: neither hosts nor the server itself react
    /// to those.
    private static let inboxes = "_INBOX"

    public func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError) {
      // The server would close the connection for a longer subject.
      try subject.check()
      try connection.publish(payload, to: subject.name, answerTo: nil)
    }

    public func request(
      _ payload: [UInt8], to subject: RemoteSubject,
      _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
    ) throws(TransportError) -> any TransportSubscription {
      try connection.check()
      try subject.check()
      let request = try inbox.add(subject.name, connection, answered)
      do throws(TransportError) {
        try connection.publish(payload, to: subject.name, answerTo: request.address)
      } catch {
        request.end()
        throw error
      }
      return request
    }

    /// Receives the messages of a subject. With a group, each message goes to one of the group's
    /// members.
    ///
    /// This blocks the thread until the server has confirmed the subscription, for at most
    /// ``NATSOptions/subscribeTimeout``. `RemoteHost.expose` subscribes twice, so expose objects
    /// where a thread may wait: before the tasks of the program begin, or on a thread of your own.
    ///
    /// - Throws: `TransportError.denied` if the server does not permit it; `TransportError.timedOut`
    ///   if the server does not confirm it in time; other errors of the connection.
    public func subscribe(
      to subject: RemoteSubject, group: String?,
      _ receive: @escaping @Sendable (TransportMessage) -> Void
    ) throws(TransportError) -> any TransportSubscription {
      try connection.check()
      try subject.check()
      // Groups may have names of any characters, so they are escaped as names in subjects are.
      let group = group.map { RemoteSubject(parts: $0) }
      try group?.check()
      let subscription = try connection.subscribe(subject.name, group: group?.name) {
        [misdirections, connection] message in
        var answer: (@Sendable ([UInt8]) -> Void)?
        if let answerTo = message.answerTo {
          guard answerTo.hasPrefix(Self.inboxes) else {
            misdirections.withLock { $0 += 1 }
            return
          }
          // An answer that cannot be sent now is dropped: later, its caller would not wait for it.
          answer = { try? connection.publish($0, to: answerTo, answerTo: nil) }
        }
        receive(TransportMessage(payload: message.payload, sender: .network, answer: answer))
      }
      do throws(TransportError) {
        try connection.confirm(subscription, within: subscribeTimeout)
      } catch {
        subscription.stop()
        throw error
      }
      return subscription
    }

    public func flush(within limit: Duration) async throws(TransportError) {
      // The library blocks, which a thread of the pool must not do.
      let result: Result<Void, TransportError> = await withCheckedContinuation { waiting in
        DispatchQueue(label: "forwarding.nats.flush").async { [connection] in
          let result = Result { () throws(TransportError) in try connection.complete(within: limit)
          }
          waiting.resume(returning: result)
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
  }
#endif
