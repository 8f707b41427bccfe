// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import Foundation
import Invocations
import RemoteTestSupport
import Testing

import Glibc

/// Real sockets: many peers, both directions, and the end of a connection at any moment.
@Suite("Peers of a socket", .timeLimit(.minutes(60)))
struct SocketPeerTests {
  private let name = "tally \(UInt32.random(in: 0 ... .max))"
  private let path = socketPath()

  private typealias Answers = LockedValue<[Result<[UInt8], TransportError>]>

  /// A client whose connection the server has accepted.
  private func connected() async throws -> UnixSocketTransport {
    let client = try await HostProcess.connected(to: path)
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

  @Test("300 concurrent calls in each direction, which all call back, are answered, ten times")
  func askingBack() async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    let client = try await connected()
    let mirrors = [Mirror(), Mirror()]
    let hosts = [RemoteHost(server, as: "0"), RemoteHost(client, as: "1")]
    let remotes = try [client, server].enumerated().map {
      RemoteProxy(try Mirror.interface(), $1, at: "\($0)", deadline: .seconds(3000))
    }
    for side in 0...1 {
      (hosts[side].limit, remotes[side].inFlightLimit) = (10_000, 10_000)
      try hosts[side].expose(mirrors[side], Mirror.interface())
      mirrors[side].other.withLock { $0 = remotes[1 - side] }
    }
    let answers = await withTaskGroup(of: Int?.self) { tasks in
      for number in 0..<600 {
        tasks.addTask { try? await Mirror.bounce(10, on: remotes[number % 2]) }
      }
      return await tasks.reduce(into: []) { $0.append($1) }
    }
    #expect(answers == Array(repeating: 10, count: 600))
    for mirror in mirrors { mirror.other.withLock { $0 = nil } }
    for host in hosts { host.close() }
  }

  @Test("the kernel identifies the sender over a socket")
  func sender() async throws {
    let bank = try Bank(.socket)
    bank.host.authorize = { $0.peer == .process(id: getpid(), user: getuid(), group: getgid()) }
    #expect(try await Vault.deposit(7, on: bank.remote) == 7)
  }

  // MARK: The end of a connection

  @Test("a broken connection fails calls in flight, and is restored")
  func interrupted() async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    let bank = try Bank((server, UnixSocketTransport(connectedTo: path)))
    let states = LockedValue<[TransportState]>([])
    let watch = bank.here.onChange { state in states.withLock { $0.append(state) } }
    defer { watch.end() }
    let calls = try await bank.begin(1)
    server.close()
    await #expect(throws: RemoteError.interrupted) { try await calls[0].value }
    // This call waits for the connection, which may be there before its host.
    let later = Task {
      while true {
        do { return try await Vault.deposit(7, on: bank.remote) } catch RemoteError.unreachable {}
      }
    }
    let next = try Bank((UnixSocketTransport(listeningAt: path), bank.here), as: bank.name)
    #expect(try await later.value == 7 && next.vault.balance == 7)
    #expect(states.withLock { $0 } == [.interrupted, .restored])
    bank.here.close()
    await #expect(throws: RemoteError.closed) { try await Vault.deposit(7, on: bank.remote) }
  }

  /// The environment variable `REMOTE_KILLS` sets the number.
  private static let calls =
    ProcessInfo.processInfo.environment["REMOTE_KILLS"].flatMap { Int($0) } ?? 20_000

  @Test("a host is killed six times: only calls that were in flight are interrupted")
  func killed() async throws {
    let process = LockedValue(try HostProcess(path, as: name))
    defer { process.withLock { $0.end() } }
    let here = try await HostProcess.connected(to: path)
    let remote = RemoteProxy(try Tally.interface(), here, at: name, deadline: .seconds(3000))
    try await HostProcess.wait(for: remote)
    let endings = Endings()
    let (calls, width, kills) = (Self.calls, 100, 6)
    async let sent: Void = endings.send(0..<calls, to: remote, atATime: width)
    await endings.each((1...kills).map { $0 * calls / (kills + 1) }) { [path, name] in
      #expect(throws: Never.self) {
        try process.withLock {
          $0.end()
          $0 = try HostProcess(path, as: name)
        }
      }
    }
    await sent
    #expect(endings.sum == calls)
    let interrupted = endings.others["interrupted", default: 0]
    #expect(interrupted > 0 && interrupted <= kills * width, "\(endings.others)")
    #expect(Set(endings.others.keys).isSubset(of: ["interrupted", "unreachable"]))
    try await HostProcess.wait(for: remote)
    #expect(try await Tally.twice(on: remote) == 0)
  }

  @Test(
    "a call sent into a connection that has just ended is not lost: it waits for the next one")
  func justEnded() async throws {
    var answered = 0
    for number in 0..<20 {
      let server = try UnixSocketTransport(listeningAt: path)
      let client = try await connected()
      let remote = RemoteProxy(try Tally.interface(), client, at: name, deadline: .seconds(3000))
      server.close()
      // At once, before this side notices the end.
      let endings = Endings()
      async let calls: Void = endings.send(0..<10, to: remote, atATime: 10)
      let next = try UnixSocketTransport(listeningAt: path)
      let host = RemoteHost(next, as: name)
      try host.expose(Tally(), Tally.interface())
      await calls
      // The next connection may be there before its host.
      #expect(Set(endings.others.keys).isSubset(of: ["unreachable"]), "round \(number)")
      #expect(endings.sum == 10)
      answered += endings.answered.count
      client.close()
      next.close()
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
    let remote = RemoteProxy(try Tally.interface(), client, at: name, deadline: .seconds(1))
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

/// A target that calls another one back before it answers.
private final class Mirror: MethodDeclaring, Sendable {
  let other = LockedValue<RemoteProxy?>(nil)

  /// How many times it was called back.
  static let bounce = try! AsyncMessage<Int, Int>("mirrorBounce:")

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("mirrorBounce:") { (mirror: Mirror, count: Int) async throws in
      guard count > 0, let other = mirror.other.withLock({ $0 }) else { return 0 }
      return try await Mirror.bounce(count - 1, on: other) + 1
    }
  }

  static func interface() throws -> Interface {
    var interface = Interface("mirror")
    try interface.allow(bounce)
    return interface
  }
}
