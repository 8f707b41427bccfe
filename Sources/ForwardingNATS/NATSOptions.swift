// SPDX-License-Identifier: Apache-2.0
#if NATS
  /// The address of a NATS server, and the credentials to show it.
  ///
  /// ```
  /// var options = NATSOptions("nats://127.0.0.1:4222")
  /// options.credentials = "/etc/chat/chat.creds"
  /// let transport = try NATSTransport(options)
  /// ```
  public struct NATSOptions: Sendable {
    /// The server's address. `tls://` requires an encrypted connection.
    public var url: String
    /// The name of this process in the server's log.
    public var name: String?
    /// A file of credentials, as written by `nsc`.
    public var credentials: String?
    /// The name and the password of a user.
    public var user: (name: String, password: String)?
    /// A file with the certificates that are trusted to sign the server's. If set, TLS is used.
    public var trusted: String?
    /// The files with the certificate and the key of this process.
    public var certificate: (chain: String, key: String)?
    /// The prefix of the subjects on which this process receives answers. With a separate prefix
    /// for each user, a server can permit each user to read only its own answers.
    ///
    /// It must begin with `_INBOX`: hosts drop messages that name another subject for their answer,
    /// so that callers cannot direct answers to subjects where calls are expected.
    public var inboxPrefix = "_INBOX"
    /// The time limit of connecting. Calls that begin while a lost connection is being restored
    /// wait for that attempt, even beyond their deadline, as libnats holds its lock meanwhile.
    public var timeout: Duration = .seconds(2)
    /// How long the server may leave sent bytes unread. After that a new connection is made.
    public var writeTimeout: Duration = .seconds(2)
    /// How long the server may take to confirm a subscription. The thread that exposes an object
    /// waits for that (see ``NATSTransport/subscribe(to:group:_:)``).
    public var subscribeTimeout: Duration = .seconds(5)

    /// Makes the options for a server.
    public init(_ url: String) { self.url = url }
  }
#endif
