// SPDX-License-Identifier: Apache-2.0
#if NATS
  import Forwarding
  import ForwardingNATS
  import ForwardingRemote
  import ForwardingTestSupport
  import Foundation
  import RemoteTestSupport
  import Testing

  @Suite(
    "Permissions of a NATS server", .serialized, .natsServer)
  struct NATSPermissionTests {
    /// The server of the documentation.
    private let server: NATSServer
    private let folder: TemporaryFolder

    init() throws {
      folder = try TemporaryFolder()
      server = try NATSServer.documented(in: folder)
    }

    private func transport(
      _ user: String, password: String? = nil, inbox: String? = nil
    ) throws -> NATSTransport {
      var options = server.options(user)
      if let password { options.user = (user, password) }
      if let inbox { options.inboxPrefix = inbox }
      return try NATSTransport(options)
    }

    private static func violation(_ kind: String, _ subject: String) -> String {
      "Permissions Violation for \(kind) to \"\(subject)\""
    }

    private func bank(for here: NATSTransport) throws -> Bank {
      try Bank((transport("bank-1"), here), as: "bank-1")
    }

    @Test("the configuration of the documentation permits each user its part")
    func allowed() async throws {
      let (ann, ben) = (try transport("ann"), try transport("ben"))
      let bank = try bank(for: ann)
      let other = Vault()
      try bank.host.expose(other, Vault.interface(named: "tally"))
      #expect(try await Vault.deposit(7, on: bank.remote) == 7)
      let tally = try Bank.remote(ben, at: "bank-1", Vault.interface(named: "tally"))
      #expect(try await Vault.deposit(8, on: tally) == 8 && other.balance == 8)
      // Each user may cancel its calls.
      for (user, name) in [(ann, "bank"), (ben, "tally")] {
        try user.publish([], to: RemoteSubject(parts: "forwarding", "bank-1", name, "cancel"))
        try await user.flush(within: .seconds(3000))
      }
      try await eventually { bank.host.statistics.strange >= 2 }
      #expect(ann.lastDenial == nil && ben.lastDenial == nil)
    }

    @Test("an operation without permission is denied at once, with the server's text")
    func denied() async throws {
      let ben = try transport("ben")
      let bank = try bank(for: ben)
      // Sending without permission fails before the deadline.
      let words = Self.violation("Publish", "forwarding.bank-1.bank")
      await #expect(throws: RemoteError.notCarried(.denied(words))) {
        try await Vault.deposit(7, on: bank.remote)
      }
      #expect(ben.lastDenial == words)
      // The denial of a message without an answer is only known to the transport.
      try Vault.add.message(7, on: bank.remote)
      try await ben.flush(within: .seconds(3000))
      // Subscribing without permission, to calls or answers of others.
      for subject in ["forwarding.bank-1.bank", "_INBOX_ann.x", "forwarding"] as [RemoteSubject] {
        #expect(throws: TransportError.denied(Self.violation("Subscription", subject.name))) {
          try ben.subscribe(to: subject, group: nil) { _ in }
        }
      }
      let other = RemoteHost(ben, as: "bank-1")
      #expect(throws: TransportError.self) { try other.expose(Vault(), Vault.interface()) }
      // The host's user may only send answers.
      let own = try Bank.remote(bank.there, at: "bank-1")
      let error = await #expect(throws: RemoteError.self) { try await Vault.deposit(7, on: own) }
      #expect(error?.description.hasPrefix("not allowed: ") == true)
      #expect(bank.vault.balance == 0)
    }

    @Test("a caller that may not read its answers is denied at once, and later before it sends")
    func deniedInbox() async throws {
      let bank = try bank(for: transport("ann", inbox: "_INBOX"))
      let words = "not allowed: Permissions Violation for Subscription to \"_INBOX."
      for _ in 0..<2 {
        let error = await #expect(throws: RemoteError.self) {
          try await Vault.deposit(7, on: bank.remote)
        }
        #expect(error?.description.hasPrefix(words) == true)
      }
      #expect(bank.vault.balance <= 7)
    }

    @Test("a wrong password is denied", arguments: [("ann", "of-ben"), ("nobody", "")])
    func password(user: String, password: String) {
      let error = #expect(throws: TransportError.self) { try transport(user, password: password) }
      #expect(error?.description.hasPrefix("not allowed: ") == true)
    }

    @Test("each of many calls at a time gets its own permission error, even if that is cut")
    func manyCalls() async throws {
      let ben = try transport("ben")
      for round in 0..<20 {
        await withTaskGroup(of: Void.self) { tasks in
          for number in 0..<16 {
            tasks.addTask {
              let name = "bank-\(round)-\(number)"
              let words = Self.violation("Publish", "forwarding.\(name).bank")
              await #expect(throws: RemoteError.notCarried(.denied(words))) {
                try await Vault.deposit(7, on: Bank.remote(ben, at: name))
              }
            }
          }
        }
      }
      // The library cuts its text of an error.
      let long = try Bank.remote(ben, at: String(repeating: "bank", count: 100))
      let error = await #expect(throws: RemoteError.self) { try await Vault.deposit(7, on: long) }
      let words = "not allowed: Permissions Violation for Publish to \"forwarding.bankbank"
      #expect(error?.description.hasPrefix(words) == true)
    }

    @Test("each subscription gets its own permission error, whatever else is denied meanwhile")
    func manySubscriptions() throws {
      let ben = try transport("ben")
      let isOver = LockedValue(false)
      beginThread {
        var number = 0
        while !isOver.withLock({ $0 }) {
          try? ben.publish([], to: RemoteSubject("denied.\(number % 3)"))
          number += 1
          usleep(20)
        }
      }
      for number in 0..<300 {
        let subject = RemoteSubject("forbidden.\(number)")
        #expect(throws: TransportError.denied(Self.violation("Subscription", subject.name))) {
          try ben.subscribe(to: subject, group: nil) { _ in }
        }
        if number % 100 == 0 {
          #expect(throws: Never.self) {
            try ben.subscribe(to: RemoteSubject("_INBOX_ben.\(number)"), group: nil) { _ in }.end()
          }
        }
      }
      isOver.withLock { $0 = true }
    }
  }

  @Suite("Programs that tests of a server need")
  struct NATSNeedsTests {
    @Test(
      "nats-server and openssl are installed where FORWARDING_NEEDS_NATS is set",
      .enabled(
        if: ProcessInfo.processInfo.environment["FORWARDING_NEEDS_NATS"] != nil,
        "only 'make check' and 'make test-remote' say that they must be there"))
    func programs() {
      #expect(NATSServer.shared != nil, "there is no nats-server, or it does not start")
      #expect(Certificates.program != nil, "there is no openssl")
    }
  }

  @Suite(
    "Certificates of NATS servers and their clients",
    .natsServer,
    .enabled(if: Certificates.program != nil, "no openssl is installed"))
  struct NATSSecurityTests {
    /// A server, and a client that connects to it.
    private struct Client: Sendable, CustomTestStringConvertible {
      let name: String
      /// The certificate of the server; nil for one without TLS.
      var server: String? = "server"
      var requiresCertificates = false
      var url = "tls://localhost"
      /// The authority that the client trusts; nil for those of the system.
      var trusted: String? = "ca"
      var certificate: String?
      /// What the client's error contains; nil if it can call.
      var error: String?
      var testDescription: String { name }
    }

    private static let noIssuer = "unable to get local issuer certificate"
    // The server may close the connection early or late, but no message is exchanged.
    private static let unreachable = "the host cannot be reached: tls://"

    private static let clients = [
      Client(name: "an authority that is trusted"),
      Client(name: "another authority", trusted: "other", error: noIssuer),
      Client(name: "the authorities of the system", trusted: nil, error: noIssuer),
      Client(
        name: "a client that does not ask for TLS", url: "nats://localhost", trusted: nil,
        error: noIssuer),
      Client(name: "an address of the certificate", url: "tls://127.0.0.1"),
      Client(name: "another host name", server: "elsewhere", error: "hostname mismatch"),
      Client(
        name: "another address", server: "elsewhere", url: "tls://127.0.0.1",
        error: "IP address mismatch"),
      Client(
        name: "a client with a certificate", requiresCertificates: true, certificate: "client"),
      Client(name: "a client without one", requiresCertificates: true, error: unreachable),
      Client(
        name: "a client with one of another authority", requiresCertificates: true,
        certificate: "stranger", error: unreachable),
      Client(name: "a server without TLS", server: nil, error: "Secure Connection not available"),
      Client(
        name: "a server without TLS, and no authority", server: nil, trusted: nil,
        error: "Secure Connection not available"),
    ]

    private static let certificates = Result { try Certificates() }

    @Test(
      "a client connects where both sides have the right certificates, and nowhere else",
      arguments: clients)
    private func connects(client: Client) async throws {
      let folder = try Self.certificates.get().folder
      let verify =
        client.requiresCertificates ? "ca_file: \"\(folder.path("ca.pem"))\", verify: true" : ""
      let tls = client.server.map {
        """
        tls {
          cert_file: "\(folder.path($0 + ".pem"))"
          key_file: "\(folder.path($0 + ".key"))"
          \(verify)
        }
        """
      }
      let server = try NATSServer(configuration: tls ?? "", in: TemporaryFolder())
      var options = server.options()
      options.url = "\(client.url):\(server.port)"
      options.trusted = client.trusted.map { folder.path($0 + ".pem") }
      options.certificate = client.certificate.map {
        (folder.path($0 + ".pem"), folder.path($0 + ".key"))
      }
      guard let words = client.error else {
        let bank = try Bank((NATSTransport(options), NATSTransport(options)))
        #expect(try await Vault.deposit(7, on: bank.remote) == 7)
        return
      }
      let error = #expect(throws: TransportError.self) { try NATSTransport(options) }
      #expect(error?.description.contains(words) == true)
    }
  }

  /// Certificates of two authorities, made with `openssl` for one test.
  final class Certificates: Sendable {
    let folder: TemporaryFolder

    static let program = ["/usr/bin/openssl", "/usr/local/bin/openssl"]
      .first { FileManager.default.isExecutableFile(atPath: $0) }

    init() throws {
      folder = try TemporaryFolder()
      for authority in ["ca", "other"] {
        try run(
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
          "-keyout", authority + ".key", "-out", authority + ".pem", "-days", "2",
          "-subj", "/CN=Authority \(authority)")
      }
      try make("server", by: "ca", "DNS:localhost,IP:127.0.0.1")
      try make("elsewhere", by: "ca", "DNS:elsewhere.example,IP:192.0.2.1")
      try make("client", by: "ca", "DNS:client.example")
      try make("stranger", by: "other", "DNS:client.example")
    }

    private func make(_ name: String, by authority: String, _ names: String) throws {
      try run(
        "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=\(name)")
      try "subjectAltName=\(names)\n".write(
        toFile: folder.path(name + ".ext"), atomically: true, encoding: .utf8)
      try run(
        "x509", "-req", "-in", name + ".csr", "-CA", authority + ".pem",
        "-CAkey", authority + ".key", "-CAcreateserial", "-out", name + ".pem", "-days", "2",
        "-extfile", name + ".ext")
    }

    private func run(_ arguments: String...) throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: Self.program ?? "")
      process.arguments = arguments
      process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
      process.standardError = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      guard process.terminationStatus == 0 else { throw CocoaError(.executableNotLoadable) }
    }
  }
#endif
