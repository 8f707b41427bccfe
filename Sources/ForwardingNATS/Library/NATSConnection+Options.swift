// SPDX-License-Identifier: Apache-2.0
#if NATS
  import CNATS
  import ForwardingRemote

  // Translates options to those of the library.
  extension NATSConnection {
    @unsafe
    static func set(_ options: NATSOptions, on made: OpaquePointer?) throws(TransportError) {
      // SAFETY: texts live until each call returns, which copies them.
      try TransportError.check(unsafe natsOptions_SetURL(made, options.url))
      // Otherwise an answer waits for a millisecond, so that others can be sent with it.
      try TransportError.check(unsafe natsOptions_SetSendAsap(made, true))
      try TransportError.check(unsafe natsOptions_SetMaxReconnect(made, -1))
      try TransportError.check(unsafe natsOptions_SetReconnectWait(made, 100))
      // Messages do not wait for the connection to be restored.
      try TransportError.check(unsafe natsOptions_SetReconnectBufSize(made, 0))
      try TransportError.check(
        unsafe natsOptions_SetTimeout(made, max(1, options.timeout.milliseconds)))
      // Publishing blocks in the kernel while it holds the library's lock. Without a deadline, a
      // server that stops reading would block it forever.
      try TransportError.check(
        unsafe natsOptions_SetWriteDeadline(made, max(1, options.writeTimeout.milliseconds)))
      try TransportError.check(
        unsafe natsOptions_SetCustomInboxPrefix(made, options.inboxPrefix))
      if let name = options.name {
        try TransportError.check(unsafe natsOptions_SetName(made, name))
      }
      if let user = options.user {
        try TransportError.check(unsafe natsOptions_SetUserInfo(made, user.name, user.password))
      }
      if let credentials = options.credentials {
        try TransportError.check(
          unsafe natsOptions_SetUserCredentialsFromFiles(made, credentials, nil))
      }
      if let trusted = options.trusted {
        try TransportError.check(unsafe natsOptions_LoadCATrustedCertificates(made, trusted))
      }
      if let own = options.certificate {
        try TransportError.check(
          unsafe natsOptions_LoadCertificatesChain(made, own.chain, own.key))
      }
      if options.trusted != nil || options.certificate != nil || options.url.hasPrefix("tls:") {
        try TransportError.check(unsafe natsOptions_SetSecure(made, true))
      }
    }
  }
#endif
