// SPDX-License-Identifier: Apache-2.0
#if NATS
  import Forwarding
  import ForwardingNATS
  import ForwardingRemote
  import Foundation
  import Synchronization
  import RemoteTestSupport
  import Testing

  @Suite(
    "Permissions of a NATS server", .serialized, .timeLimit(.minutes(60)),
    .enabled(if: NATSServer.program != nil, "no nats-server is installed"))
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

    private func bank(for here: NATSTransport) throws -> Bank {
      try Bank((transport("bank-1"), here), as: "bank-1")
    }

    @Test("the configuration of the documentation permits each user its part")
    func allowed() async throws {
      let (ann, ben) = (try transport("ann"), try transport("ben"))
      let bank = try bank(for: ann)
      try bank.host.expose(Tally(), Tally.interface())
      #expect(try await Vault.deposit(7, on: bank.remote) == 7)
      let tally = RemoteProxy(try Tally.interface(), ben, at: "bank-1", deadline: .seconds(3000))
      #expect(try await Tally.take(7, on: tally) == 7)
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
      let words = "Permissions Violation for Publish to \"forwarding.bank-1.bank\""
      await #expect(throws: RemoteError.notCarried(.denied(words))) {
        try await Vault.deposit(7, on: bank.remote)
      }
      #expect(ben.lastDenial == words)
      // The denial of a message without an answer is only known to the transport.
      try Vault.add.message(7, on: bank.remote)
      try await ben.flush(within: .seconds(3000))
      // Subscribing without permission, to calls or answers of others.
      for subject in ["forwarding.bank-1.bank", "_INBOX_ann.x", "forwarding"] as [RemoteSubject] {
        let words = "Permissions Violation for Subscription to \"\(subject.name)\""
        #expect(throws: TransportError.denied(words)) {
          try ben.subscribe(to: subject, group: nil) { _ in }
        }
      }
      let other = RemoteHost(ben, as: "bank-1")
      #expect(throws: TransportError.self) { try other.expose(Vault(), Vault.interface()) }
      // The host's user may only send answers.
      let own = RemoteProxy(
        try Vault.interface(), bank.there, at: "bank-1", deadline: .seconds(3000))
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

    @Test("a message above the server's limit is refused before it is sent")
    func payload() async throws {
      let folder = try TemporaryFolder()
      let server = try NATSServer(configuration: "max_payload: 65536", in: folder)
      let here = try server.connect()
      #expect(here.maximumPayload == 65536)
      let received = Atomic(0)
      let there = try server.connect()
      let listener = try there.subscribe(to: "large", group: nil) { message in
        received.add(message.payload.count, ordering: .relaxed)
        message.answer?([UInt8](repeating: 0, count: 65537))
        message.answer?([1])
      }
      let large = [UInt8](repeating: 0, count: 65537)
      #expect(throws: TransportError.tooLarge(limit: 65536, given: 65537)) {
        try here.publish(large, to: "large")
      }
      #expect(throws: TransportError.tooLarge(limit: 65536, given: 65537)) {
        try here.request(large, to: "large") { _ in }
      }
      // The connection still works, with a message of just the right size.
      let fitting = [UInt8](repeating: 0, count: 65536)
      #expect(try await ask(here, fitting, "large") == .success([1]))
      let count = received.load(ordering: .relaxed)
      #expect(count == 65536)
      listener.end()
    }
  }
#endif
