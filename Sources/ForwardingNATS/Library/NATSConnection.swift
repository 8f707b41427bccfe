// SPDX-License-Identifier: Apache-2.0
#if NATS
  import CNATS
  import ForwardingRemote
  import Invocations

  // All code that handles the library's memory is in this folder.

  /// A connection to a server, and the closures that the library's threads call.
  @safe
  final class NATSConnection: @unchecked Sendable {
    // SAFETY: the library locks the object behind the pointer, which lives until `deinit` and is
    // closed before that.
    private var connection: OpaquePointer?
    /// For other users of the library, which retain this connection meanwhile.
    @unsafe var pointer: OpaquePointer? { unsafe connection }
    let listener: Listener
    /// For a second connection.
    let options: NATSOptions
    private let subscriptions = Guarded<[ObjectIdentifier: NATSSubscription]>([:])
    private let process = ForkGuard()

    /// Receives the library's events about the connection, until the connection is destroyed.
    final class Listener: Sendable {
      let changed: @Sendable (TransportState) -> Void
      let denied: @Sendable (NATSDenial) -> Void
      let denials = NATSDenials()
      /// Set when this process closes the connection. The library then reports a disconnection,
      /// which is ignored.
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
        // The connection's last error may be another one by now, so the error of this thread is
        // preferred.
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

    /// Connects to a server.
    ///
    /// - Parameter keepsUnsent: Whether the library keeps messages that are published while the
    ///   connection is broken, and sends them once it is restored.
    init(
      _ options: NATSOptions, keepsUnsent: Bool,
      _ changed: @escaping @Sendable (TransportState) -> Void,
      denied: @escaping @Sendable (NATSDenial) -> Void
    ) throws(TransportError) {
      listener = Listener(changed, denied)
      self.options = options
      unsafe connection = nil
      var made: OpaquePointer?
      try TransportError.check(unsafe natsOptions_Create(&made))
      // SAFETY: texts live until each call returns, which copies them; the listener is retained
      // until the library reports that the connection is closed.
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
              // The library's last event of a connection, on a separate thread and after all
              // others.
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

    /// Checks that this process was not forked. A child has none of the library's threads and
    /// copies its locks in any state, so no function of the library is called there.
    func check() throws(TransportError) { if process.isForked { throw .forked } }

    @unsafe
    private static func tell(_ listener: UnsafeMutableRawPointer?, _ state: TransportState) {
      guard let listener = unsafe listener else { return }
      let known = unsafe Unmanaged<Listener>.fromOpaque(listener).takeUnretainedValue()
      if state == .interrupted, known.isClosing.read({ $0 }) { return }
      // Another connection may have other permissions.
      if state == .restored { known.denials.clear() }
      known.changed(state)
    }

    private static func cannotConnect(_ url: String, _ status: natsStatus) -> TransportError {
      let error = TransportError(status)
      if case .denied = error { return error }
      // The address may contain a password.
      let place = url.split(separator: "@").last.map(String.init) ?? url
      // SAFETY: the text belongs to this thread until its next error.
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
      // SAFETY: the library copies its arguments before it returns. A text that is passed as it is
      // would be copied into an array first.
      let status = unsafe subject.withCString { subject in
        unsafe payload.withUnsafeBytes { bytes in
          // More bytes than any server takes are refused below.
          let count = Int32(clamping: bytes.count)
          guard let answerTo else {
            return unsafe natsConnection_Publish(connection, subject, bytes.baseAddress, count)
          }
          return unsafe natsConnection_PublishRequest(
            connection, subject, answerTo, bytes.baseAddress, count)
        }
      }
      if status == NATS_MAX_PAYLOAD {
        throw .tooLarge(limit: maximumPayload, given: payload.count)
      }
      // Messages do not wait for the connection to be restored.
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
      // The key is new, so no entry is replaced.
      subscriptions.withLockInPlace { $0[key] = subscription }
      // Retained until then, even if the subscription has been ended.
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

    /// Waits until ended subscriptions have received all their messages, and flushes the answers to
    /// them.
    func complete(within limit: Duration) throws(TransportError) {
      let end = ContinuousClock.now + Deadlines.bounded(limit)
      try flush(within: limit)
      let ending = subscriptions.read { Array($0.values) }.filter(\.isEnding)
      if ending.isEmpty { return }
      for subscription in ending { subscription.complete(within: end - .now) }
      try flush(within: end - .now)
    }

    /// Blocks the current thread for a time.
    static func pause(_ time: Duration) { nats_Sleep(time.milliseconds) }

    func close() {
      if process.isForked { return }
      listener.isClosing.withLock { $0 = true }
      for subscription in subscriptions.read({ Array($0.values) }) { subscription.stop() }
      unsafe natsConnection_Close(connection)
    }
  }

  // Translates the library's status codes.
  extension TransportError {
    init(_ status: natsStatus) {
      let text = unsafe natsStatus_GetText(status).map { unsafe String(cString: $0) } ?? "?"
      self =
        switch status {
        case NATS_NO_RESPONDERS: .nobodyListens
        case NATS_CONNECTION_CLOSED: .closed
        // The connection broke while a message was being sent.
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
      let (seconds, attoseconds) = Deadlines.bounded(self).components
      // Limited to a month.
      return min(seconds, 2_592_000) * 1000 + attoseconds / 1_000_000_000_000_000
    }
  }
#endif
