#if NATS
  import ForwardingRemote

  /// The inboxes of a connection: one for a request that is alone, and one for those that are on their way beside it.
  struct Inboxes: Sendable {
    private let direct: Inbox
    private let shared: Inbox

    init(_ prefix: String) {
      (direct, shared) = (Inbox(prefix, .direct), Inbox(prefix, .shared))
    }

    func add(
      _ subject: String, _ connection: NATSConnection,
      _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
    ) throws(TransportError) -> Inbox.Request {
      if let request = try direct.add(subject, connection, answered) { return request }
      guard let request = try shared.add(subject, connection, answered) else { throw .congested }
      return request
    }

    func take(_ denial: NATSDenial) {
      direct.take(denial)
      shared.take(denial)
    }

    func forgetDenial() {
      direct.forgetDenial()
      shared.forgetDenial()
    }

    func failAll(_ error: TransportError) {
      direct.failAll(error)
      shared.failAll(error)
    }
  }
#endif
