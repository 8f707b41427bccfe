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
    private func transport(
      _ server: NATSServer, _ user: String, password: String? = nil, inbox: String? = nil
    ) throws -> NATSTransport {
      var options = server.options(user)
      if let password { options.user = (user, password) }
      if let inbox { options.inboxPrefix = inbox }
      return try NATSTransport(options)
    }

    @Test("the configuration of the documentation permits each user its part")
    func allowed() async throws {
      let folder = try TemporaryFolder()
      let server = try NATSServer.documented(in: folder)
      let host = RemoteHost(try transport(server, "bank-1"), as: "bank-1")
      try host.expose(Vault(), Vault.interface())
      try host.expose(Tally(), Tally.interface())
      let ann = try transport(server, "ann")
      let bank = RemoteProxy(try Vault.interface(), ann, at: "bank-1", deadline: .seconds(3000))
      #expect(try await Vault.deposit(7, on: bank) == 7)
      let ben = try transport(server, "ben")
      let tally = RemoteProxy(try Tally.interface(), ben, at: "bank-1", deadline: .seconds(3000))
      #expect(try await Tally.take(7, on: tally) == 7)
      // Each user may cancel its calls.
      for (user, name) in [(ann, "bank"), (ben, "tally")] {
        try user.publish([], to: RemoteSubject(parts: "forwarding", "bank-1", name, "cancel"))
        try await user.flush(within: .seconds(3000))
      }
      while host.statistics.strange < 2 { try await Task.sleep(for: .milliseconds(1)) }
      #expect(ann.lastDenial == nil && ben.lastDenial == nil)
      host.close()
    }

    @Test("an operation without permission is denied at once, with the server's text")
    func denied() async throws {
      let folder = try TemporaryFolder()
      let server = try NATSServer.documented(in: folder)
      let there = try transport(server, "bank-1")
      let host = RemoteHost(there, as: "bank-1")
      let vault = Vault()
      try host.expose(vault, Vault.interface())
      // Sending without permission fails before the deadline.
      let ben = try transport(server, "ben")
      let bank = RemoteProxy(try Vault.interface(), ben, at: "bank-1", deadline: .seconds(3000))
      let words = "Permissions Violation for Publish to \"forwarding.bank-1.bank\""
      await #expect(throws: RemoteError.notCarried(.denied(words))) {
        try await Vault.deposit(7, on: bank)
      }
      #expect(ben.lastDenial == words)
      // The denial of a message without an answer is only known to the transport.
      try Vault.add.message(7, on: bank)
      try await ben.flush(within: .seconds(3000))
      #expect(vault.balance == 0)
      // Subscribing without permission, to calls or answers of others.
      for subject in ["forwarding.bank-1.bank", "_INBOX_ann.x", "forwarding"] as [RemoteSubject] {
        let name = subject.name
        #expect(
          throws: TransportError.denied("Permissions Violation for Subscription to \"\(name)\"")
        ) {
          try ben.subscribe(to: subject, group: nil) { _ in }
        }
      }
      let other = RemoteHost(ben, as: "bank-1")
      #expect(throws: TransportError.self) { try other.expose(Vault(), Vault.interface()) }
      // The host's user may only send answers.
      let own = RemoteProxy(try Vault.interface(), there, at: "bank-1", deadline: .seconds(3000))
      let error = await #expect(throws: RemoteError.self) { try await Vault.deposit(7, on: own) }
      guard case .notCarried(.denied) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      host.close()
    }

    @Test("a caller that may not read its answers is denied at once, and later before it sends")
    func deniedInbox() async throws {
      let folder = try TemporaryFolder()
      let server = try NATSServer.documented(in: folder)
      let host = RemoteHost(try transport(server, "bank-1"), as: "bank-1")
      let vault = Vault()
      try host.expose(vault, Vault.interface())
      let ann = try transport(server, "ann", inbox: "_INBOX")
      let bank = RemoteProxy(try Vault.interface(), ann, at: "bank-1", deadline: .seconds(3000))
      for _ in 0..<2 {
        let error = await #expect(throws: RemoteError.self) { try await Vault.deposit(7, on: bank) }
        guard case .notCarried(.denied(let words)) = error else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect(words.hasPrefix("Permissions Violation for Subscription to \"_INBOX."))
      }
      #expect(vault.balance <= 7)
      host.close()
    }

    @Test("a wrong password is denied")
    func password() throws {
      let folder = try TemporaryFolder()
      let server = try NATSServer.documented(in: folder)
      for (user, password) in [("ann", "of-ben"), ("nobody", "")] {
        let error = #expect(throws: TransportError.self) {
          try transport(server, user, password: password)
        }
        guard case .denied = error else {
          Issue.record("\(String(describing: error))")
          return
        }
      }
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
      let (stream, continuation) = AsyncStream<Int>.makeStream()
      let request = try here.request([UInt8](repeating: 0, count: 65536), to: "large") {
        continuation.yield((try? $0.get().count) ?? 0)
      }
      for await count in stream {
        #expect(count == 1)
        break
      }
      let count = received.load(ordering: .relaxed)
      #expect(count == 65536)
      request.end()
      listener.end()
    }
  }
#endif
