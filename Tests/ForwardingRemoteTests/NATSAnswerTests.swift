// SPDX-License-Identifier: Apache-2.0
#if NATS
  import Forwarding
  import ForwardingNATS
  import ForwardingRemote
  import Foundation
  import RemoteTestSupport
  import Synchronization
  import Testing

  @Suite(
    "Answers over NATS", .serialized, .timeLimit(.minutes(60)),
    .enabled(if: NATSServer.program != nil, "no nats-server is installed"))
  struct NATSAnswerTests {
    private let name = "bank-\(UInt32.random(in: 0 ... .max))"

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

    @Test("concurrent first requests of a connection all learn that there is no listener")
    func firstRequests() async throws {
      let server = try NATSServer()
      for _ in 0..<300 {
        let here = try server.connect()
        defer { here.close() }
        let remote = RemoteProxy(
          try Vault.interface(), here, at: name, deadline: .seconds(3000))
        let unheard = await withTaskGroup(of: Bool.self) { tasks in
          for _ in 0..<4 {
            tasks.addTask { await isUnheard { try await Vault.deposit(1, on: remote) } }
          }
          return await tasks.reduce(into: []) { $0.append($1) }
        }
        #expect(unheard == [true, true, true, true])
      }
    }

    @Test("no answer goes to a subject of calls, or to any subject but an inbox")
    func misdirected() async throws {
      let server = try NATSServer()
      let there = try server.connect()
      let bank = try Bank((there, there), as: name)
      let others = [
        "forwarding.victim.bank", "forwarding-hosts", "$JS.API.INFO", "INBOX.x", "somewhere",
      ]
      let listener = try listening(server, to: others + ["_INBOX_me.x"])
      let call = try Vault.interface().encodeSent(Vault.deposit.message.invocation(1))
      for (number, answerTo) in (others + ["_INBOX_me.x"]).enumerated() {
        let request = Envelope.request(Envelope.asked, number: UInt64(number), call)
        let head = "PUB forwarding.\(name).bank \(answerTo) \(request.count)\r\n"
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
      let answer = Mutex<(@Sendable ([UInt8]) -> Void)?>(nil)
      let listener = try there.subscribe(to: "question", group: nil) { message in
        answer.withLock { $0 = message.answer }
      }
      defer { listener.end() }
      let isRestored = Atomic(false)
      let watch = there.onChange { state in
        if state == .restored { isRestored.store(true, ordering: .relaxed) }
      }
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
      try await eventually { isRestored.load(ordering: .relaxed) }
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
  }
#endif
