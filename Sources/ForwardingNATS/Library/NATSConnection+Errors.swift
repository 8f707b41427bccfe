// SPDX-License-Identifier: Apache-2.0
#if NATS
  import CNATS
  import Dispatch
  import ForwardingRemote
  import Invocations

  // The errors of the library, and when it reports them.
  extension NATSConnection {
    var lastDenial: String? { listener.denials.last }

    /// The permission error of a subscription, after the server has answered a flush; nil if the
    /// subscription is permitted.
    ///
    /// The connection knows its last error at once. The library's thread reports all errors one by
    /// one, a little later. So if the last error belongs to another subject, this waits until that
    /// thread has reported all errors so far.
    ///
    /// - Throws: `TransportError.timedOut` if the thread does not come so far within the limit.
    func denial(
      ofSubscription subject: String, _ watch: Int, within limit: Duration
    ) throws(TransportError) -> String? {
      if let text = listener.denials.text(watch) { return text }
      let (status, last) = unsafe Self.lastError(of: pointer)
      if status == NATS_OK { return nil }
      // The text may be overwritten while it is read. Then it is no error about this subject.
      if let denial = NATSDenial(last), denial.kind == .subscribing, denial.concerns(subject) {
        return last
      }
      guard try awaitReports(within: limit) else {
        // Without a second connection, the last resort is time.
        for _ in 0..<500 {
          if let text = listener.denials.text(watch) { return text }
          Self.pause(.milliseconds(1))
        }
        return nil
      }
      return listener.denials.text(watch)
    }

    /// Waits until the library's thread has reported all errors so far, of all connections. It
    /// reports the events of a process in their order, so this closes a second connection, and waits
    /// for that event.
    ///
    /// - Returns: Whether a second connection could be made.
    private func awaitReports(within limit: Duration) throws(TransportError) -> Bool {
      let end = ContinuousClock.now + Deadlines.bounded(limit)
      let reported = DispatchSemaphore(value: 0)
      var made: OpaquePointer?
      try TransportError.check(unsafe natsOptions_Create(&made))
      // SAFETY: texts live until each call returns, which copies them; the semaphore is retained
      // until the library reports that the connection is closed.
      defer { unsafe natsOptions_Destroy(made) }
      try unsafe Self.set(options, on: made)
      try TransportError.check(unsafe natsOptions_SetAllowReconnect(made, false))
      let closure = unsafe Unmanaged.passRetained(reported).toOpaque()
      var status = unsafe natsOptions_SetClosedCB(
        made,
        { _, reported in
          guard let reported = unsafe reported else { return }
          unsafe Unmanaged<DispatchSemaphore>.fromOpaque(reported).takeRetainedValue().signal()
        }, closure)
      var second: OpaquePointer?
      if status == NATS_OK { status = unsafe natsConnection_Connect(&second, made) }
      guard status == NATS_OK else {
        unsafe Unmanaged<DispatchSemaphore>.fromOpaque(closure).release()
        return false
      }
      unsafe natsConnection_Close(second)
      unsafe natsConnection_Destroy(second)
      let rest = DispatchTime.now() + .milliseconds(Int(max(1, (end - .now).milliseconds)))
      guard reported.wait(timeout: rest) == .success else { throw .timedOut }
      return true
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
#endif
