#if NATS
  /// How to reach a NATS server, and what to show it.
  ///
  /// ```
  /// var options = NATSOptions("nats://127.0.0.1:4222")
  /// options.credentials = "/etc/chat/chat.creds"
  /// let transport = try NATSTransport(options)
  /// ```
  public struct NATSOptions: Sendable {
    /// The server's address. `tls://` insists on a connection that nobody else can read.
    public var url: String
    /// What the server's log calls this process.
    public var name: String?
    /// A file of credentials, as `nsc` writes them.
    public var credentials: String?
    /// The name and the password of a user.
    public var user: (name: String, password: String)?
    /// A token.
    public var token: String?
    /// A file with the certificates of those who may vouch for the server; with one, TLS is used.
    public var trusted: String?
    /// Files with the certificate and the key of this process.
    public var certificate: (chain: String, key: String)?
    /// What the subjects begin with that answers to this process come by. A server lets each user read its own
    /// answers alone where each has a prefix of its own.
    /// It begins with ``inboxRoot``.
    public var inboxPrefix = "_INBOX"
    /// What the prefixes of all who send to this process begin with. A message whose answer should go elsewhere is not
    /// taken, so that nobody has answers of this process sent to where calls, or records of a journal, are expected.
    public var inboxRoot = "_INBOX"
    /// How long connecting may take. Calls that begin while a lost connection is being made anew wait for that
    /// attempt, beyond their deadline if need be: libnats holds its lock meanwhile.
    public var timeout: Duration = .seconds(2)
    /// How long the server may leave sent bytes unread. After that the connection is made anew.
    public var writeTimeout: Duration = .seconds(2)
    /// How long the server may take to confirm a subscription, as exposing an object makes one.
    public var subscribeTimeout: Duration = .seconds(5)

    /// Options for a server.
    public init(_ url: String) { self.url = url }
  }
#endif
