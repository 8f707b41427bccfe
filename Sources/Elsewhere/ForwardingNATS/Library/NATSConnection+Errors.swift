#if NATS
  import CNATS

  // The errors of the library, and when it reports them.
  extension NATSConnection {
    var lastDenial: String? { listener.denials.last }

    /// The permission errors so far, to be read before a subscription is made.
    var denialsSoFar: (count: Int, last: String) {
      (listener.denials.count, unsafe Self.lastError(of: pointer).1)
    }

    /// The permission error of a subscription, after the server has answered a flush; nil if the
    /// subscription seems to be permitted.
    ///
    /// The connection knows its last error at once. The library's thread reports all errors one by
    /// one, a little later. So if the last error belongs to another subscription, this waits for
    /// the earlier ones: up to 100 ms if no new errors seem to arrive, as the last error may be an
    /// old one, and otherwise up to 500 ms. A busy machine delays that thread, and an undetected
    /// failure to subscribe is worse than the wait.
    func denial(
      ofSubscription subject: String, since before: (count: Int, last: String)
    ) -> String? {
      for round in 0..<500 {
        if let text = listener.denials.text(.subscribing, subject, since: before.count) {
          return text
        }
        let (status, last) = unsafe Self.lastError(of: pointer)
        if status == NATS_OK { return nil }
        if let denial = NATSDenial(last), denial.kind == .subscribing, denial.concerns(subject) {
          return last
        }
        // The text may be overwritten while it is read. Then it differs from the earlier text.
        let isQuiet = last == before.last && listener.denials.count == before.count
        if isQuiet, round > 100 { return nil }
        Self.pause(.milliseconds(1))
      }
      return nil
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
