// SPDX-License-Identifier: Apache-2.0
#if NATS
  import Forwarding
  import ForwardingNATS
  import ForwardingRemote
  import ForwardingTestSupport
  import Foundation
  import RemoteTestSupport
  import Synchronization
  import Testing

  @Suite(
    "Answers and queues of a NATS server", .serialized, .natsServer)
  struct NATSTests {
    /// A plain connection that listens to subjects.
    private func listening(_ server: NATSServer, to subjects: [String]) throws -> LoopbackSocket {
      let socket = try #require(LoopbackSocket(port: server.port))
      let lines = subjects.enumerated().map { "SUB \($1) \($0 + 1)\r\n" }.joined()
      _ = socket.send(Array("CONNECT {\"verbose\":false}\r\n\(lines)PING\r\n".utf8))
      while try !#require(socket.line()).contains("PONG") {}
      return socket
    }

    @Test("the subject of each answer is random, so a host that has seen one cannot guess the next")
    func addresses() async throws {
      let server = try NATSServer()
      let here = try server.connect()
      let spy = try listening(server, to: ["question"])
      let requests = try (0..<5).map { _ in try here.request([1], to: "question") { _ in } }
      try await here.flush(within: .seconds(3000))
      var text = ""
      while text.components(separatedBy: "MSG question 1 ").count < 6 {
        text += try #require(spy.line())
      }
      let addresses = text.components(separatedBy: "MSG question 1 ").dropFirst().map {
        String($0.prefix { $0 != " " })
      }
      let numbers = addresses.compactMap { $0.split(separator: ".").last }
        .compactMap { UInt64($0, radix: 36) }.sorted()
      #expect(numbers.count == 5 && addresses.allSatisfy { $0.hasPrefix("_INBOX.") })
      #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 - $0 > 1 << 20 }, "\(numbers)")
      for request in requests { request.end() }
    }

    @Test("no answer goes to a subject of calls, or to any subject but an inbox")
    func misdirected() async throws {
      let server = try NATSServer()
      let there = try server.connect()
      let bank = try Bank((there, there), as: "bank-1")
      let others = [
        "forwarding.victim.bank", "forwarding-hosts", "$JS.API.INFO", "INBOX.x", "somewhere",
      ]
      let listener = try listening(server, to: others + ["_INBOX_me.x"])
      let call = try Vault.interface().encodeSent(Vault.deposit.message.invocation(1))
      for (number, answerTo) in (others + ["_INBOX_me.x"]).enumerated() {
        let request = Envelope.request(Envelope.asked, number: UInt64(number), call)
        let head = "PUB \(bank.subject.name) \(answerTo) \(request.count)\r\n"
        _ = listener.send(Array(head.utf8) + request + Array("\r\n".utf8))
      }
      var text = ""
      while !text.contains("_INBOX_me.x") { text += try #require(listener.line()) }
      #expect(text.components(separatedBy: "MSG ").count == 2, "\(text)")
      #expect(there.misdirected == others.count)
      #expect(bank.vault.balance == 1)
    }

    @Test("a prefix that is not one of inboxes is refused before anything is sent")
    func prefix() throws {
      let server = try NATSServer()
      var options = server.options()
      for prefix in ["answers", "forwarding.x", "$JS", ""] {
        options.inboxPrefix = prefix
        #expect(throws: TransportError.self) { try NATSTransport(options) }
      }
    }

    @Test("an answer that is made while the connection is broken is dropped, not sent later")
    func brokenConnection() async throws {
      let server = try NATSServer()
      let there = try server.connect()
      let answer = LockedValue<(@Sendable ([UInt8]) -> Void)?>(nil)
      let listener = try there.subscribe(to: "question", group: nil) { message in
        answer.withLock { $0 = message.answer }
      }
      defer { listener.end() }
      let (states, watch) = changes(of: there)
      defer { watch.end() }
      // The caller's plain socket subscribes again before the host, which waits between attempts.
      let before = try listening(server, to: ["_INBOX.me"])
      _ = before.send(Array("PUB question _INBOX.me 0\r\n\r\n".utf8))
      try await eventually { answer.withLock { $0 != nil } }
      server.kill()
      try await eventually { (try? there.publish([], to: "anything")) == nil }
      answer.withLock { $0 }?(Array("late".utf8))
      try server.start()
      let after = try listening(server, to: ["_INBOX.me"])
      try await eventually { states.read { $0.contains(.restored) } }
      try there.publish(Array("next".utf8), to: "_INBOX.me")
      var text = ""
      while !text.contains("next") { text += try #require(after.line()) }
      #expect(!text.contains("late"))
    }

    @Test("calls in transit when a host closes are answered")
    func closing() async throws {
      let server = try NATSServer()
      let bank = try Bank((server.connect(), server.connect()))
      let (host, remote) = (bank.host, bank.remote)
      // The first call blocks the thread that delivers the others.
      let gate = DispatchSemaphore(value: 0)
      defer { gate.signal() }
      let looks = Atomic(0)
      host.authorize = { _ in
        if looks.wrappingAdd(1, ordering: .relaxed).newValue == 1 { gate.wait() }
        return true
      }
      async let first = Vault.deposit(1, on: remote)
      try await eventually { looks.load(ordering: .relaxed) > 0 }
      let others = (0..<20).map { _ in Task { try await Vault.deposit(1, on: remote) } }
      try await eventually { remote.statistics.asked >= 21 }
      try await Task.sleep(for: .milliseconds(50))
      try await bank.here.flush(within: .seconds(3000))
      try await bank.there.flush(within: .seconds(3000))
      // The other calls have arrived in this process, and are not yet delivered.
      host.close()
      gate.signal()
      #expect(try await first == 1)
      for other in others {
        await #expect(throws: RemoteError.refused(.draining, "")) { try await other.value }
      }
      #expect(bank.vault.balance == 1)
      try await bank.there.flush(within: .seconds(3000))
      #expect(await isUnheard { try await Vault.deposit(1, on: remote) })
    }

    @Test("a connection may close while messages arrive for subscriptions that nobody keeps")
    func flood() async throws {
      let server = try NATSServer()
      let here = try server.connect()
      let isOver = LockedValue(false)
      beginThread {
        while !isOver.withLock({ $0 }) { try? here.publish([1], to: "news") }
      }
      defer { isOver.withLock { $0 = true } }
      for _ in 0..<200 {
        let there = try server.connect()
        let received = LockedValue(0)
        for _ in 0..<8 {
          _ = try there.subscribe(to: "news", group: nil) { _ in received.withLock { $0 += 1 } }
        }
        try await eventually { received.withLock { $0 } > 8 }
        there.close()
      }
    }

    @Test("at most 65,536 messages wait for a listener; further messages are dropped and counted")
    func waiting() async throws {
      let server = try NATSServer()
      let (there, here) = (try server.connect(), try server.connect())
      let gate = DispatchSemaphore(value: 0)
      let received = Atomic(0)
      let listener = try there.subscribe(to: "news", group: nil) { _ in
        // The first message holds up the others.
        if received.add(1, ordering: .relaxed).newValue == 1 { gate.wait() }
      }
      for _ in 0..<70_000 { try here.publish([1], to: "news") }
      try await here.flush(within: .seconds(3000))
      try await eventually { there.dropped >= 70_000 - 65_537 }
      gate.signal()
      try await eventually { received.load(ordering: .relaxed) >= 70_000 - there.dropped }
      #expect(there.dropped <= 70_000 - 65_536)
      listener.end()
    }

    @Test(
      "while a server is stopped, large calls end near their deadline, and queued messages are limited; both work when it continues"
    )
    func stopped() async throws {
      let server = try NATSServer()
      // libnats delays calls while it reconnects, so this connection has the default timeouts.
      let bank = try Bank((server.connect(), NATSTransport(server.url)))
      let remote = bank.remote
      remote.deadline = .seconds(1)
      #expect(try await Vault.name("Ann", on: remote) == "Ann's")
      var options = server.options()
      options.writeTimeout = .milliseconds(300)
      let busy = try NATSTransport(options)
      let (states, watch) = changes(of: busy)
      defer { watch.end() }
      server.signal(SIGSTOP)
      let ended = LockedValue(0)
      let begin = ContinuousClock.now
      let text = String(repeating: "x", count: 500_000)
      let calls = (0..<60).map { _ in
        Task.detached {
          await #expect(throws: RemoteError.self) {
            _ = try await Vault.name(text, on: remote).count
          }
          ended.withLock { $0 += 1 }
        }
      }
      // A separate thread, as all threads of tasks may be blocked.
      let (sent, error) = await withCheckedContinuation { continuation in
        beginThread {
          let bytes = [UInt8](repeating: 1, count: 64 << 10)
          var (sent, failure) = (0, nil as TransportError?)
          // Much more than the kernel and the process buffer.
          while sent < 10_000, failure == nil {
            do throws(TransportError) { try busy.publish(bytes, to: "news") } catch {
              failure = error
            }
            sent += 1
          }
          while ended.withLock({ $0 }) < 60, ContinuousClock.now - begin < .seconds(40) {
            usleep(10_000)
          }
          server.signal(SIGCONT)
          continuation.resume(returning: (sent, failure))
        }
      }
      let time = ContinuousClock.now - begin
      #expect(time < .seconds(30), "\(time)")
      #expect(error == .timedOut || error == .interrupted, "\(String(describing: error))")
      #expect(sent < 1000, "\(sent)")
      for call in calls { await call.value }
      remote.deadline = .seconds(3000)
      try await eventually { (try? await Vault.name("Ann", on: remote)) == "Ann's" }
      let counts = remote.statistics
      #expect(counts.asked > 60)
      #expect(counts.asked == counts.answered + counts.failed + counts.refused)
      try await eventually {
        states.read { $0.contains(.interrupted) && $0.contains(.restored) }
      }
      let listener = try busy.subscribe(to: "echo", group: nil) { $0.answer?($0.payload) }
      defer { listener.end() }
      #expect(try await ask(busy, [1], "echo") == .success([1]))
    }
  }

  @Suite("Servers that are joined", .natsServer)
  struct LeafNodeTests {
    /// Waits until one host can be reached, as the servers exchange their subscriptions.
    private func reach(_ remote: RemoteProxy) async throws {
      var reached = 0
      while reached != 1 {
        let answers = try? await remote.gather(expecting: 2, within: .milliseconds(100)) {
          try await Vault.deposit(0, on: $0)
        }
        reached = answers?.answers.count ?? 0
      }
    }

    @Test(
      "calls cross a hub and a leaf node: one member of a group performs each, is cancelled there, and is unreachable once it has ended"
    )
    func calls() async throws {
      let folder = try TemporaryFolder()
      // The hub picks the port for leaf nodes, and writes it into its log before it is ready.
      let hub = try NATSServer(
        configuration: """
          log_file: "\(folder.path("log"))"
          leafnodes { listen: "127.0.0.1:-1" }
          """, in: folder)
      let log = try String(contentsOfFile: folder.path("log"), encoding: .utf8)
      let port = try #require(log.firstMatch(of: /leafnode connections on .*:(\d+)/)).1
      let leaf = try NATSServer(
        configuration: "leafnodes { remotes: [{ url: \"nats://127.0.0.1:\(port)\" }] }",
        in: folder)
      let ends = (try hub.connect(), try leaf.connect())
      /// Sees that calls cross the servers, which the only host is not at.
      func crosses(_ bank: Bank) async throws {
        try await reach(bank.remote)
        let balance = bank.vault.balance
        #expect(try await Vault.deposit(7, on: bank.remote) == balance + 7)
        let before = bank.host.statistics.asked
        let waiting = Task { [remote = bank.remote] in try await Vault.sleep(600_000, on: remote) }
        try await eventually { bank.host.statistics.asked > before }
        waiting.cancel()
        await #expect(throws: RemoteError.cancelled) { try await waiting.value }
        try await eventually { bank.vault.cancellations > 0 }
        #expect(await isUnheard { try await Vault.deposit(7, on: bank.proxy(at: "nobody")) })
      }
      let atHub = try Bank((ends.0, ends.1), as: "bank", group: "tellers")
      try await crosses(atHub)
      let atLeaf = try Bank((ends.1, ends.0), as: "bank", group: "tellers")
      let banks = [atHub, atLeaf]
      for bank in banks { try await reach(bank.remote) }
      func sum() -> Int32 { banks.map(\.vault.balance).reduce(0, +) }
      let before = sum()
      for number: Int32 in 0..<200 {
        _ = try await Vault.deposit(1, on: banks[Int(number) % 2].remote)
        #expect(sum() == before + number + 1)
      }
      atHub.host.close()
      try await crosses(atLeaf)
      let after = sum()
      atLeaf.host.close()
      // A call is lost until one server has the subscription from the other.
      for bank in banks {
        bank.remote.deadline = .milliseconds(200)
        try await eventually { await isUnheard { try await Vault.deposit(7, on: bank.remote) } }
      }
      #expect(sum() == after)
    }
  }
#endif
