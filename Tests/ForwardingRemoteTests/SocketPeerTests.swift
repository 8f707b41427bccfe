// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import Invocations
import RemoteTestSupport
import Testing

import Glibc

/// Real sockets: many peers, and the end of a connection at any moment.
@Suite("Peers of a socket")
struct SocketPeerTests {
  private let path = socketPath()

  private typealias Answers = LockedValue<[Result<[UInt8], TransportError>]>

  /// A client whose connection the server has accepted.
  private func connected() async throws -> UnixSocketTransport {
    let client = try UnixSocketTransport(connectedTo: path)
    #expect(try await ask(client, [], "nobody") == .failure(.nobodyListens))
    return client
  }

  /// Makes a request, and notes its answers.
  private func request(
    _ transport: UnixSocketTransport, _ bytes: [UInt8] = [1]
  ) throws -> (any TransportSubscription, Answers) {
    let answers = Answers([])
    let request = try transport.request(bytes, to: "work") { answer in
      answers.withLock { $0.append(answer) }
    }
    return (request, answers)
  }

  // MARK: Many peers

  @Test("a peer that disconnects does not end a request that another peer may answer")
  func bystander() async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    let peers = [try await connected(), try await connected()]
    let heard = LockedValue<[TransportMessage]>([])
    let listeners = try peers.map {
      try $0.subscribe(to: "work", group: nil) { message in heard.withLock { $0.append(message) } }
    }
    let (request, answers) = try request(server)
    try await eventually { heard.withLock { $0.count } == 2 }
    peers[1].close()
    // Until then, the connection counts as interrupted.
    try await eventually { try await ask(server, [], "nobody") == .failure(.nobodyListens) }
    // One of the two has disconnected, and its answer is dropped.
    for message in heard.withLock({ $0 }) { message.answer?([2]) }
    try await eventually { answers.withLock { !$0.isEmpty } }
    #expect(answers.withLock { $0 } == [.success([2])])
    // The last peer that may answer disconnects as well.
    peers[0].close()
    try await eventually { answers.withLock { $0.count } >= 2 }
    #expect(answers.withLock { $0 } == [.success([2]), .failure(.interrupted)])
    withExtendedLifetime((listeners, request)) { server.close() }
  }

  @Test("a peer that does not read does not delay messages to others")
  func congested() async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    let deaf = try #require(PacketSocket(path))
    #expect(deaf.isAnswered())
    let worker = try await connected()
    let heard = LockedValue(0)
    let listener = try worker.subscribe(to: "work", group: nil) { message in
      message.answer?([2])
      heard.withLock { $0 += 1 }
    }
    let bytes = [UInt8](repeating: 1, count: 100_000)
    for number in 1...120 {
      try server.publish(bytes, to: "work")
      try await eventually { heard.withLock { $0 } == number }
    }
    #expect(try await ask(server, [1], "work") == .success([2]))
    // Without another peer, the error is reported.
    worker.close()
    try await eventually {
      do throws(TransportError) { try server.publish(bytes, to: "work") } catch {
        return error == .congested
      }
      return false
    }
    let (refused, answers) = try request(server, bytes)
    withExtendedLifetime((listener, refused, deaf)) { server.close() }
    // It failed once: closing does not fail it again.
    #expect(answers.withLock { $0 } == [.failure(.congested)])
  }

  @Test("4 MB wait for a peer that does not read, and are sent once it does, again and again")
  func waiting() async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    let peer = try #require(PacketSocket(path))
    #expect(peer.isAnswered())
    for round: UInt8 in 1...4 {
      let message = [UInt8](repeating: round, count: 1000)
      var count = 0
      #expect(throws: TransportError.congested) {
        while true {
          try server.publish(message, to: "news")
          count += 1
        }
      }
      // Each costs 64 bytes more than its frame of 1012. The kernel takes some as well.
      let least = (4 << 20) / 1076
      #expect((least...least + 600).contains(count), "\(count)")
      let frame = SocketFrame(.told, 0, "news", message).bytes
      for _ in 0..<count { try #require(peer.receive() == frame) }
      try await server.flush(within: .seconds(3000))
    }
    server.close()
  }

  @Test("connections that are still read count towards the limit, and a freed place is used again")
  func limitOfThreads() async throws {
    let server = try UnixSocketTransport(listeningAt: path, maximumConnections: 4)
    let (begun, isOver) = (LockedValue(0), LockedValue(false))
    let slow = try server.subscribe(to: "slow", group: nil) { _ in
      begun.withLock { $0 += 1 }
      while !isOver.withLock({ $0 }) { usleep(1000) }
    }
    for number in 1...12 {
      let peer = try #require(PacketSocket(path))
      peer.send(SocketFrame(.told, 0, "slow", []).bytes)
      // Connections beyond the limit are closed, so their calls never begin.
      for _ in 0..<(number <= 4 ? 100_000 : 10) where begun.withLock({ $0 }) < number {
        try await Task.sleep(for: .milliseconds(2))
      }
      withExtendedLifetime(peer) {}
      // A message to a closed connection is refused before its thread has ended.
      try? server.publish([1], to: "news")
    }
    #expect(begun.withLock { $0 } == 4)
    isOver.withLock { $0 = true }
    slow.end()
    try await eventually { PacketSocket(path)?.isAnswered() == true }
    server.close()
  }

  // MARK: The end of a connection

  @Test(
    "a broken connection fails calls in flight, and is restored: calls that are sent meanwhile wait for the next one"
  )
  func interrupted() async throws {
    var answered = 0
    for round in 0..<20 {
      let server = try UnixSocketTransport(listeningAt: path)
      let bank = try Bank((server, UnixSocketTransport(connectedTo: path)))
      let (states, watch) = changes(of: bank.here)
      defer { watch.end() }
      let calls = try await bank.begin(1)
      server.close()
      // At once, before this side notices the end.
      let endings = Endings()
      async let later: Void = endings.send(0..<10, to: bank.remote, atATime: 10)
      await #expect(throws: RemoteError.interrupted) { try await calls[0].value }
      let next = try Bank((UnixSocketTransport(listeningAt: path), bank.here), as: bank.name)
      await later
      // The next connection may be there before its host.
      #expect(Set(endings.others.keys).isSubset(of: ["unreachable"]), "round \(round)")
      #expect(endings.sum == 10)
      answered += endings.answered.count
      try await eventually { (try? await Vault.deposit(7, on: bank.remote)) == 7 }
      #expect(next.vault.balance == 7)
      try await eventually { states.read { $0.count } >= 2 }
      #expect(states.read { $0 } == [.interrupted, .restored])
      bank.here.close()
      await #expect(throws: RemoteError.closed) { try await Vault.deposit(7, on: bank.remote) }
      next.there.close()
    }
    #expect(answered > 0)
  }

  /// What a peer says before it hangs up: nothing, something that it may say, or something else.
  @Test(
    "a client pauses before it reconnects to a peer that hangs up, whatever that says before",
    arguments: [[], SocketFrame(.nobody, 0, nil, []).bytes, Array("220 welcome".utf8)])
  func hungUp(words: [UInt8]) async throws {
    let door = try #require(PacketSocket(listeningAt: path))
    let knocks = LockedValue(0)
    beginThread {
      while let new = door.accept() {
        knocks.withLock { $0 += 1 }
        if !words.isEmpty { new.send(words) }
      }
    }
    let start = ContinuousClock.now
    let client = try UnixSocketTransport(connectedTo: path)
    // A call ends, if only at its deadline: it is not sent, or lost with its connection.
    let remote = try Bank.remote(client, at: "bank")
    remote.deadline = .seconds(1)
    let endings = Endings()
    await endings.send(0..<100, to: remote, atATime: 100)
    #expect(endings.sum == 100)
    #expect(Set(endings.others.keys).isSubset(of: ["interrupted", "timed out"]))
    try await Task.sleep(for: .seconds(1))
    let count = knocks.withLock { $0 }
    // At least 50 ms between two attempts.
    let most = Int((ContinuousClock.now - start) / .milliseconds(50)) + 2
    #expect(count <= most, "\(count), and not \(most)")
    client.close()
    door.shutDown()
    unlink(path)
  }

  @Test("what waits for a peer that does not read is interrupted, and the next one does not get it")
  func lost() async throws {
    for isClosed in [true, false] {
      var door = PacketSocket(listeningAt: path)
      let client = try UnixSocketTransport(connectedTo: path)
      var deaf = try #require(door?.accept()) as PacketSocket?
      let bytes = [UInt8](repeating: 1, count: 100_000)
      while (try? await client.flush(within: .zero)) != nil {
        try client.publish(bytes, to: "work")
      }
      let requests = try (0..<100).map { _ in try request(client) }
      // It begins before this goes on.
      let flushing = Task.immediate { try await client.flush(within: .seconds(3000)) }
      if isClosed { client.close() }
      // As if its process were killed.
      (deaf, door) = (nil, nil)
      unlink(path)
      withExtendedLifetime(deaf) {}
      let error = isClosed ? TransportError.closed : .interrupted
      await #expect(throws: error) { try await flushing.value }
      for (_, answers) in requests {
        try await eventually { answers.withLock { !$0.isEmpty } }
        #expect(answers.withLock { $0 } == [.failure(error)])
      }
      if isClosed { continue }
      let server = try UnixSocketTransport(listeningAt: path)
      let listener = try server.subscribe(to: "work", group: nil) { $0.answer?($0.payload) }
      try await eventually { (try? await ask(client, [7], "work")) == .success([7]) }
      #expect(requests.allSatisfy { $1.withLock { $0.count } == 1 })
      listener.end()
      client.close()
      server.close()
    }
  }

  @Test("each request that begins while its transport closes ends as closed", arguments: [0, 1])
  func closing(side: Int) async throws {
    for round in 0..<200 {
      let server = try UnixSocketTransport(listeningAt: path)
      let client = try await connected()
      let (asking, other) = side == 0 ? (server, client) : (client, server)
      // It never answers.
      let listener = try other.subscribe(to: "work", group: nil) { _ in }
      // How each request that began has ended so far.
      let ends = LockedValue<[TransportError?]>([])
      let requests = LockedValue<[any TransportSubscription]>([])
      let running = LockedValue(2)
      for _ in 0..<2 {
        beginThread {
          var isOver = false
          while !isOver {
            let index = ends.withLock { ends in
              ends.append(nil)
              return ends.count - 1
            }
            @Sendable func end(_ error: TransportError) { ends.withLock { $0[index] = error } }
            do throws(TransportError) {
              let request = try asking.request([1], to: "work") { answer in
                if case .failure(let error) = answer { end(error) }
              }
              requests.withLock { $0.append(request) }
            } catch {
              end(error)
              isOver = error != .congested
            }
          }
          running.withLock { $0 -= 1 }
        }
      }
      try await eventually { ends.withLock { $0.count } >= 20 }
      asking.close()
      try await eventually { running.withLock { $0 } == 0 }
      #expect(
        Set(ends.withLock { $0 }).isSubset(of: [.closed, .congested]), "round \(round)")
      listener.end()
      other.close()
    }
  }
}
