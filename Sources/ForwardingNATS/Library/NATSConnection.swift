#if NATS
  import CNATS
  import ForwardingRemote
  import Invocations

  // All that touches the library's memory.

  /// A connection to a server, and the closures that its threads call.
  @safe
  final class NATSConnection: @unchecked Sendable {
    // SAFETY: the library locks what these point at; they are there until `deinit`, and closed before.
    private var connection: OpaquePointer?
    /// For what uses the library beside this, and keeps it meanwhile.
    @unsafe var pointer: OpaquePointer? { unsafe connection }
    let listener: Listener
    private let subscriptions = Guarded<[ObjectIdentifier: NATSSubscription]>([:])
    private let process = OwnProcess()

    /// What the library calls about the connection. It may do so until the connection is destroyed.
    final class Listener: Sendable {
      let changed: @Sendable (TransportState) -> Void
      let denied: @Sendable (NATSDenial) -> Void
      let denials = NATSDenials()
      /// A connection that this process closes does not break, whatever the library says.
      let isClosing = Guarded(false)

      init(
        _ changed: @escaping @Sendable (TransportState) -> Void,
        _ denied: @escaping @Sendable (NATSDenial) -> Void
      ) {
        (self.changed, self.denied) = (changed, denied)
      }

      @unsafe
      func hear(_ status: natsStatus, _ connection: OpaquePointer?) {
        guard status == NATS_NOT_PERMITTED || status == NATS_CONNECTION_AUTH_FAILED else { return }
        // What the connection knows is its last error, which may be another one by now. This thread's is the one that
        // is told.
        var (last, text) = unsafe NATSConnection.lastErrorOfThread()
        if last != status || text.isEmpty {
          (last, text) = unsafe NATSConnection.lastError(of: connection)
        }
        let said = last == status && !text.isEmpty ? text : "\(TransportError(status))"
        let denial = NATSDenial(said)
        denials.hear(said, denial)
        if let denial { denied(denial) }
      }
    }

    /// Connects.
    ///
    /// - Parameter keepsUnsent: whether what is published while the connection is broken waits for it in the library,
    ///   however long that takes.
    init(
      _ options: NATSOptions, keepsUnsent: Bool,
      _ changed: @escaping @Sendable (TransportState) -> Void,
      denied: @escaping @Sendable (NATSDenial) -> Void
    ) throws(TransportError) {
      listener = Listener(changed, denied)
      unsafe connection = nil
      var made: OpaquePointer?
      try TransportError.check(unsafe natsOptions_Create(&made))
      // SAFETY: texts live until each call returns, which copies them; the listener is retained until the library
      // has said that the connection is closed.
      defer { unsafe natsOptions_Destroy(made) }
      let closure = unsafe Unmanaged.passRetained(listener).toOpaque()
      do throws(TransportError) {
        try unsafe Self.set(options, on: made)
        if !keepsUnsent {
          try TransportError.check(unsafe natsOptions_SetReconnectBufSize(made, 0))
        }
        try TransportError.check(
          unsafe natsOptions_SetDisconnectedCB(
            made, { _, listener in unsafe NATSConnection.tell(listener, .interrupted) }, closure))
        try TransportError.check(
          unsafe natsOptions_SetReconnectedCB(
            made, { _, listener in unsafe NATSConnection.tell(listener, .restored) }, closure))
        try TransportError.check(
          unsafe natsOptions_SetClosedCB(
            made,
            { _, listener in
              unsafe NATSConnection.tell(listener, .closed)
              // The last that the library says of a connection, on a thread of its own, after all else.
              if let listener = unsafe listener {
                unsafe Unmanaged<Listener>.fromOpaque(listener).release()
              }
            }, closure))
        try TransportError.check(
          unsafe natsOptions_SetErrorHandler(
            made,
            { connection, _, status, listener in
              guard let listener = unsafe listener else { return }
              unsafe Unmanaged<Listener>.fromOpaque(listener).takeUnretainedValue()
                .hear(status, connection)
            }, closure))
        var connected: OpaquePointer?
        let status = unsafe natsConnection_Connect(&connected, made)
        guard status == NATS_OK else { throw Self.cannotConnect(options.url, status) }
        unsafe connection = connected
      } catch {
        unsafe Unmanaged<Listener>.fromOpaque(closure).release()
        throw error
      }
    }

    deinit {
      if process.isForked { return }
      close()
      unsafe natsConnection_Destroy(connection)
    }

    /// A child process has none of the library's threads, and finds its locks as they were just then: nothing of the library
    /// is called there.
    func check() throws(TransportError) { if process.isForked { throw .forked } }

    @unsafe
    private static func tell(_ listener: UnsafeMutableRawPointer?, _ state: TransportState) {
      guard let listener = unsafe listener else { return }
      let known = unsafe Unmanaged<Listener>.fromOpaque(listener).takeUnretainedValue()
      if state == .interrupted, known.isClosing.read({ $0 }) { return }
      // Another connection may do other things.
      if state == .restored { known.denials.clear() }
      known.changed(state)
    }

    private static func cannotConnect(_ url: String, _ status: natsStatus) -> TransportError {
      let error = TransportError(status)
      if case .denied = error { return error }
      // A password may stand in the address.
      let place = url.split(separator: "@").last.map(String.init) ?? url
      // SAFETY: the library keeps the text for this thread until its next error.
      let details = unsafe nats_GetLastError(nil).map { unsafe String(cString: $0) } ?? ""
      return .unreachable("\(place): \(error)" + (details.isEmpty ? "" : ", \(details)"))
    }

    var maximumPayload: Int {
      process.isForked ? 0 : Int(unsafe natsConnection_GetMaxPayload(connection))
    }

    var dropped: Int {
      if process.isForked { return 0 }
      return subscriptions.read { Array($0.values) }.reduce(0) { $0 + $1.dropped }
    }

    func publish(
      _ payload: [UInt8], to subject: String, answerTo: String?
    ) throws(TransportError) {
      try check()
      // SAFETY: the library copies what it gets before it returns.
      let status = unsafe payload.withUnsafeBytes { bytes in
        if let answerTo {
          unsafe natsConnection_PublishRequest(
            connection, subject, answerTo, bytes.baseAddress, Int32(bytes.count))
        } else {
          unsafe natsConnection_Publish(
            connection, subject, bytes.baseAddress, Int32(bytes.count))
        }
      }
      // Nothing may wait for the connection to be there again.
      if status == NATS_INSUFFICIENT_BUFFER { throw .interrupted }
      try TransportError.check(status)
    }

    @discardableResult
    func subscribe(
      _ subject: String, group: String?, isOfAnswers: Bool = false,
      _ receive: @escaping @Sendable (NATSMessage) -> Void
    ) throws(TransportError) -> NATSSubscription {
      try check()
      let subscription = unsafe try NATSSubscription(
        connection, subject, group, isOfAnswers: isOfAnswers, receive)
      let key = ObjectIdentifier(subscription)
      // Its key is new, so nothing is replaced.
      subscriptions.withLockInPlace { $0[key] = subscription }
      // Kept until then, also by one that was ended.
      subscription.whenCompleted { [weak self] in
        let old = self?.subscriptions.withLockInPlace { $0.removeValue(forKey: key) }
        withExtendedLifetime(old) {}
      }
      return subscription
    }

    var isConnected: Bool {
      unsafe natsConnection_Status(connection) == NATS_CONN_STATUS_CONNECTED
    }

    func flush(within limit: Duration) throws(TransportError) {
      try check()
      try TransportError.check(
        unsafe natsConnection_FlushTimeout(connection, max(1, limit.milliseconds)))
    }

    /// Waits until those that were ended have received all, and flushes again for what they answered.
    func complete(within limit: Duration) throws(TransportError) {
      let end = ContinuousClock.now + limit
      try flush(within: limit)
      let ending = subscriptions.read { Array($0.values) }.filter(\.isEnding)
      if ending.isEmpty { return }
      for subscription in ending { subscription.complete(within: end - .now) }
      try flush(within: end - .now)
    }

    /// Waits, and blocks the thread.
    static func pause(_ time: Duration) { nats_Sleep(time.milliseconds) }

    func close() {
      if process.isForked { return }
      listener.isClosing.withLock { $0 = true }
      for subscription in subscriptions.read({ Array($0.values) }) { subscription.stop() }
      unsafe natsConnection_Close(connection)
    }
  }

  // Words of the library, in those of this package.
  extension TransportError {
    init(_ status: natsStatus) {
      let text = unsafe natsStatus_GetText(status).map { unsafe String(cString: $0) } ?? "?"
      self =
        switch status {
        case NATS_NO_RESPONDERS: .nobodyListens
        case NATS_CONNECTION_CLOSED: .closed
        // A message meets the connection just as it breaks.
        case NATS_CONNECTION_DISCONNECTED, NATS_STALE_CONNECTION, NATS_IO_ERROR: .interrupted
        case NATS_TIMEOUT: .timedOut
        case NATS_INSUFFICIENT_BUFFER: .congested
        case NATS_NO_SERVER, NATS_ADDRESS_MISSING: .unreachable(text)
        case NATS_NOT_PERMITTED, NATS_CONNECTION_AUTH_FAILED: .denied(text)
        default: .failed(text)
        }
    }

    static func check(_ status: natsStatus) throws(TransportError) {
      guard status == NATS_OK else { throw TransportError(status) }
    }
  }

  extension Duration {
    var milliseconds: Int64 {
      let (seconds, attoseconds) = components
      // A month is as good as for ever.
      return min(max(0, seconds), 2_592_000) * 1000 + attoseconds / 1_000_000_000_000_000
    }
  }
#endif
