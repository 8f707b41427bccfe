// SPDX-License-Identifier: Apache-2.0
#if NATS
  import Forwarding
  import ForwardingNATS
  import ForwardingRemote
  import Foundation
  import RemoteTestSupport
  import Testing

  @Suite("Programs that tests of a server need")
  struct NATSNeedsTests {
    @Test(
      "nats-server and openssl are installed where FORWARDING_NEEDS_NATS is set",
      .enabled(
        if: ProcessInfo.processInfo.environment["FORWARDING_NEEDS_NATS"] != nil,
        "only 'make test-remote' says that they must be there"))
    func programs() {
      #expect(NATSServer.shared != nil, "there is no nats-server, or it does not start")
      #expect(Certificates.program != nil, "there is no openssl")
    }
  }

  @Suite(
    "Certificates of NATS servers and their clients", .timeLimit(.minutes(60)),
    .enabled(if: NATSServer.program != nil, "no nats-server is installed"),
    .enabled(if: Certificates.program != nil, "no openssl is installed"))
  struct NATSSecurityTests {
    /// A server that accepts only TLS.
    private func server(
      _ certificates: Certificates, _ name: String, asksBack: Bool = false
    ) throws -> NATSServer {
      let folder = certificates.folder
      let verify = asksBack ? "ca_file: \"\(folder.path("ca.pem"))\", verify: true" : ""
      return try NATSServer(
        configuration: """
          tls {
            cert_file: "\(folder.path(name + ".pem"))"
            key_file: "\(folder.path(name + ".key"))"
            \(verify)
          }
          """, in: try TemporaryFolder())
    }

    private func options(
      _ server: NATSServer, _ certificates: Certificates, trusted: String? = "ca.pem",
      scheme: String = "tls", host: String = "localhost"
    ) -> NATSOptions {
      var options = server.options()
      options.url = "\(scheme)://\(host):\(server.port)"
      options.trusted = trusted.map { certificates.folder.path($0) }
      return options
    }

    /// Sends a call, and checks its answer.
    private func call(over options: NATSOptions) async throws {
      let host = RemoteHost(try NATSTransport(options), as: "bank")
      try host.expose(Vault(), Vault.interface())
      let here = try NATSTransport(options)
      let bank = RemoteProxy(try Vault.interface(), here, at: "bank", deadline: .seconds(3000))
      #expect(try await Vault.deposit(7, on: bank) == 7)
      host.close()
    }

    private func refused(_ options: NATSOptions) -> String {
      let error = #expect(throws: TransportError.self) { try NATSTransport(options) }
      return error.map { "\($0)" } ?? ""
    }

    @Test("a client connects to a server whose certificate is trusted, and to no other")
    func trusted() async throws {
      let certificates = try Certificates()
      let server = try server(certificates, "server")
      try await call(over: options(server, certificates))
      let words = "unable to get local issuer certificate"
      #expect(refused(options(server, certificates, trusted: "other.pem")).contains(words))
      // The system's authorities did not sign the certificate.
      #expect(refused(options(server, certificates, trusted: nil)).contains(words))
      // The client does not connect without TLS, either.
      let plain = options(server, certificates, trusted: nil, scheme: "nats")
      #expect(refused(plain).contains(words))
    }

    @Test("a certificate for another host name or address is refused")
    func names() async throws {
      let certificates = try Certificates()
      let server = try server(certificates, "server")
      try await call(over: options(server, certificates, host: "localhost"))
      try await call(over: options(server, certificates, host: "127.0.0.1"))
      let other = try self.server(certificates, "elsewhere")
      let byName = options(other, certificates, host: "localhost")
      #expect(refused(byName).contains("hostname mismatch"))
      let byNumber = options(other, certificates, host: "127.0.0.1")
      #expect(refused(byNumber).contains("IP address mismatch"))
    }

    @Test(
      "a server that requires certificates accepts a client with one, and refuses others")
    func client() async throws {
      let certificates = try Certificates()
      let server = try server(certificates, "server", asksBack: true)
      var own = options(server, certificates)
      let folder = certificates.folder
      own.certificate = (folder.path("client.pem"), folder.path("client.key"))
      try await call(over: own)
      // The server may close the connection early or late, but no message is exchanged.
      let unreachable = "the host cannot be reached: tls://"
      #expect(refused(options(server, certificates)).hasPrefix(unreachable))
      own.certificate = (folder.path("stranger.pem"), folder.path("stranger.key"))
      #expect(refused(own).hasPrefix(unreachable))
    }

    @Test("a client that requires TLS does not connect to a server without it")
    func plain() throws {
      let certificates = try Certificates()
      let server = try NATSServer()
      let words = "Secure Connection not available"
      #expect(refused(options(server, certificates)).contains(words))
      #expect(refused(options(server, certificates, trusted: nil)).contains(words))
    }
  }

  /// Certificates of two authorities, made with `openssl` for one test.
  final class Certificates {
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
