#if NATS
  import CNATS

  // What the library says went wrong, and when it says so.
  extension NATSConnection {
    var lastDenial: String? { listener.denials.last }

    /// What was denied so far: to be asked before a subscription is made.
    var denialsSoFar: (count: Int, last: String) {
      (listener.denials.count, unsafe Self.lastError(of: pointer).1)
    }

    /// What the server said of a subscription that it does not allow; it has answered a flush since that was made.
    ///
    /// The connection knows the last error at once, and the library's thread tells all of them, one by one, a little
    /// later. So where the last one is another's, those before it are waited for: not for long where nothing seems to
    /// be denied at the moment, as the last one may be an old one; but a machine that is busy has that thread wait, and one
    /// who believes to listen, and does not, is worse than one who waits.
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
        // The text may be written over while it is read; no other then is what it was before.
        let isQuiet = last == before.last && listener.denials.count == before.count
        if isQuiet, round > 100 { return nil }
        Self.pause(.milliseconds(1))
      }
      return nil
    }

    @unsafe
    static func lastErrorOfThread() -> (natsStatus, String) {
      var status = NATS_OK
      // SAFETY: the text is this thread's own until its next error.
      let text = unsafe nats_GetLastError(&status)
      return (status, unsafe text.map { unsafe String(cString: $0) } ?? "")
    }

    @unsafe
    static func lastError(of connection: OpaquePointer?) -> (natsStatus, String) {
      var text: UnsafePointer<CChar>?
      // SAFETY: the text is the connection's own, of a fixed size, and always ends with a zero.
      let status = unsafe natsConnection_GetLastError(connection, &text)
      return (status, unsafe text.map { unsafe String(cString: $0) } ?? "")
    }
  }
#endif
