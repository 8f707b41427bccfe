// SPDX-License-Identifier: Apache-2.0
#if NATS
  import CNATS
  import Dispatch
  import ForwardingRemote
  import Invocations

  // All code that handles the library's memory is in this folder.

  /// A connection to a server, and the closures that the library's threads call.
  @safe
  final class NATSConnection: @unchecked Sendable {
    // SAFETY: the library locks the object behind the pointer, which lives until `deinit` and is
    // closed before that.
    private var connection: OpaquePointer?
    private let listener: Listener
    private let options: NATSOptions
    private let process = ForkGuard()

    /// Receives the library's events about the connection, until the connection is destroyed.
    private final class Listener: Sendable {
      private let changed: @Sendable (TransportState) -> Void
      private let denied: @Sendable (NATSDenial) -> Void
      /// Set when this process closes the connection. The library then reports a disconnection,
      /// which is ignored.
      let isClosing = Guarded(false)
      let lastDenial = Guarded<String?>(nil)
      private let table = Guarded<[ObjectIdentifier: NATSSubscription]>([:])
      private let ended = Guarded<[ObjectIdentifier: NATSSubscriptionObject]>([:])

      init(
        _ changed: @escaping @Sendable (TransportState) -> Void,
        _ denied: @escaping @Sendable (NATSDenial) -> Void
      ) {
        (self.changed, self.denied) = (changed, denied)
      }

      /// The subscriptions that may still receive messages.
      var subscriptions: [NATSSubscription] { table.read { Array($0.values) } }

      func add(_ subscription: NATSSubscription) {
        table.withLockInPlace { $0[ObjectIdentifier(subscription)] = subscription }
      }

      /// Removes a subscription that has ended. The library's object lives until the library's
      /// reading thread is past it: up to libnats 3.5, that thread hands a message to a subscription
      /// that it has looked up, without a reference of its own.
      func remove(_ subscription: NATSSubscription) {
        if let object = subscription.object {
          ended.withLock { $0[ObjectIdentifier(object)] = object }
        }
        _ = table.withLockInPlace { $0.removeValue(forKey: ObjectIdentifier(subscription)) }
      }

      /// Calls a function that returns once the library's reading thread has received an answer of
      /// the server, and then releases what had ended before.
      func release(after receiving: () throws(TransportError) -> Void) throws(TransportError) {
        let past = ended.read { $0 }
        try receiving()
        ended.withLock { for key in past.keys { $0[key] = nil } }
      }

      func hear(_ state: TransportState) {
        if state == .interrupted, isClosing.read({ $0 }) { return }
        // Another connection may have other permissions.
        if state == .restored { for subscription in subscriptions { subscription.denial = nil } }
        changed(state)
      }

      func hear(_ status: natsStatus) {
        guard status == NATS_NOT_PERMITTED || status == NATS_CONNECTION_AUTH_FAILED else { return }
        // The connection's last error may be another one by now.
        let (last, text) = unsafe NATSConnection.lastErrorOfThread()
        let said = last == status && !text.isEmpty ? text : "\(TransportError(status))"
        lastDenial.withLock { $0 = said }
        guard let denial = NATSDenial(said) else { return }
        if denial.kind == .subscribing {
          for subscription in subscriptions where denial.concerns(subscription.subject) {
            subscription.denial = said
          }
        }
        denied(denial)
      }
    }

    /// Connects to a server.
    init(
      _ options: NATSOptions, _ changed: @escaping @Sendable (TransportState) -> Void,
      denied: @escaping @Sendable (NATSDenial) -> Void
    ) throws(TransportError) {
      listener = Listener(changed, denied)
      self.options = options
      unsafe connection = nil
      // SAFETY: the listener is retained until the library reports that the connection is closed,
      // and its reading thread has ended.
      var made: OpaquePointer?
      try TransportError.check(unsafe natsOptions_Create(&made))
      defer { unsafe natsOptions_Destroy(made) }
      try unsafe Self.set(options, on: made)
      let closure = unsafe Unmanaged.passRetained(listener).toOpaque()
      do throws(TransportError) {
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
            { _, _, status, listener in
              guard let listener = unsafe listener else { return }
              unsafe Unmanaged<Listener>.fromOpaque(listener).takeUnretainedValue()
                .hear(status)
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
    func check() throws(TransportError) { if process.isForked { throw .closed } }

    @unsafe
    private static func tell(_ listener: UnsafeMutableRawPointer?, _ state: TransportState) {
      guard let listener = unsafe listener else { return }
      unsafe Unmanaged<Listener>.fromOpaque(listener).takeUnretainedValue().hear(state)
    }

    private static func cannotConnect(_ url: String, _ status: natsStatus) -> TransportError {
      let error = TransportError(status)
      if case .denied = error { return error }
      // The address may contain a password.
      let place = url.split(separator: "@").last.map(String.init) ?? url
      let details = unsafe lastErrorOfThread().1
      return .unreachable("\(place): \(error)" + (details.isEmpty ? "" : ", \(details)"))
    }

    var maximumPayload: Int {
      process.isForked ? 0 : Int(unsafe natsConnection_GetMaxPayload(connection))
    }

    var dropped: Int {
      if process.isForked { return 0 }
      return listener.subscriptions.reduce(0) { $0 + $1.dropped }
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
      _ subject: String, group: String?, _ receive: @escaping @Sendable (NATSMessage) -> Void
    ) throws(TransportError) -> NATSSubscription {
      try check()
      let subscription = NATSSubscription(subject, receive) { [weak listener] in
        listener?.remove($0)
      }
      // Before the server can deny it.
      listener.add(subscription)
      do throws(TransportError) { try unsafe subscription.begin(connection, group) } catch {
        listener.remove(subscription)
        throw error
      }
      return subscription
    }

    func flush(within limit: Duration) throws(TransportError) {
      try check()
      try listener.release { () throws(TransportError) in
        try TransportError.check(
          unsafe natsConnection_FlushTimeout(connection, max(1, limit.milliseconds)))
      }
    }

    /// Waits until ended subscriptions have received all their messages, and flushes the answers to
    /// them.
    func complete(within limit: Duration) throws(TransportError) {
      let end = ContinuousClock.now + Deadlines.bounded(limit)
      try flush(within: limit)
      let ending = listener.subscriptions.filter(\.isEnding)
      if ending.isEmpty { return }
      for subscription in ending { subscription.complete(within: end - .now) }
      try flush(within: end - .now)
    }

    func close() {
      if process.isForked { return }
      listener.isClosing.withLock { $0 = true }
      for subscription in listener.subscriptions { subscription.stop() }
      unsafe natsConnection_Close(connection)
    }
  }

  // The errors of the library, and when it reports them.
  extension NATSConnection {
    var lastDenial: String? { listener.lastDenial.read { $0 } }

    /// Waits until the server has a subscription, so that messages of other connections cannot be
    /// too early, and throws its permission error if it has one.
    ///
    /// The server reports missing permissions before it answers a flush. The connection knows its
    /// last error at once. The library's thread reports all errors one by one, a little later. So if
    /// the last error belongs to another subject, this waits until that thread has reported all
    /// errors so far.
    func confirm(
      _ subscription: NATSSubscription, within limit: Duration
    ) throws(TransportError) {
      let end = ContinuousClock.now + Deadlines.bounded(limit)
      try flush(within: limit)
      if let text = subscription.denial { throw .denied(text) }
      let (status, last) = unsafe Self.lastError(of: connection)
      if status == NATS_OK { return }
      // The text may be overwritten while it is read. Then it is no error about this subject.
      if let denial = NATSDenial(last), denial.kind == .subscribing,
        denial.concerns(subscription.subject)
      {
        throw .denied(last)
      }
      try awaitReports(within: end - .now)
      if let text = subscription.denial { throw .denied(text) }
    }

    /// Waits until the library's thread has reported all errors so far, of all connections. It
    /// reports the events of a process in their order, so this closes a second connection, and waits
    /// for that event.
    private func awaitReports(within limit: Duration) throws(TransportError) {
      let end = ContinuousClock.now + Deadlines.bounded(limit)
      let reported = DispatchSemaphore(value: 0)
      let second = try NATSConnection(options) { state in
        if state == .closed { reported.signal() }
      } denied: { _ in
      }
      second.close()
      let rest = DispatchTime.now() + .milliseconds(Int(max(1, (end - .now).milliseconds)))
      guard reported.wait(timeout: rest) == .success else { throw .timedOut }
    }

    @unsafe
    static func lastErrorOfThread() -> (natsStatus, String) {
      var status = NATS_OK
      // SAFETY: the text belongs to this thread until its next error.
      let text = unsafe nats_GetLastError(&status)
      return (status, unsafe text.map { unsafe String(cString: $0) } ?? "")
    }

    @unsafe
    static func lastError(of connection: OpaquePointer?) -> (natsStatus, String) {
      var text: UnsafePointer<CChar>?
      // SAFETY: the text belongs to the connection, has a fixed size, and always ends with a zero.
      let status = unsafe natsConnection_GetLastError(connection, &text)
      return (status, unsafe text.map { unsafe String(cString: $0) } ?? "")
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
