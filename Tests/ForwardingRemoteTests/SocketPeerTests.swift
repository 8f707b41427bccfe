// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import RemoteTestSupport
import Synchronization
import Testing

@testable import ForwardingRemote

import Glibc

@Suite("Many peers of one socket", .timeLimit(.minutes(60)))
struct SocketPeerTests {
  private let path = socketPath()

  /// The received messages.
  private final class Heard: Sendable {
    let answers = LockedValue<[Result<[UInt8], TransportError>]>([])
    let messages = LockedValue<[TransportMessage]>([])

    var count: Int { messages.withLock { $0.count } }
  }

  private func wait(until isSo: () -> Bool) async throws {
    while !isSo() { try await Task.sleep(for: .milliseconds(2)) }
  }

  @Test("a peer that disconnects does not end a request that another peer may answer")
  func bystander() async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    let peers = try (0..<2).map { _ in try UnixSocketTransport(connectedTo: path) }
    try await wait { server.connectionCount == 2 }
    let heard = Heard()
    let listeners = try peers.map {
      try $0.subscribe(to: "work", group: nil) { message in
        heard.messages.withLock { $0.append(message) }
      }
    }
    let request = try server.request([1], to: "work") { answer in
      heard.answers.withLock { $0.append(answer) }
    }
    try await wait { heard.count == 2 }
    peers[1].close()
    try await wait { server.connectionCount == 1 }
    // One of the two has disconnected, and its answer is dropped.
    for message in heard.messages.withLock({ $0 }) { message.answer?([2]) }
    try await wait { heard.answers.withLock { !$0.isEmpty } }
    #expect(heard.answers.withLock { $0 } == [.success([2])])
    // The last peer that may answer disconnects as well.
    peers[0].close()
    try await wait { heard.answers.withLock { $0.count >= 2 } }
    #expect(heard.answers.withLock { $0.last } == .failure(.interrupted))
    withExtendedLifetime((listeners, request)) { server.close() }
  }

  @Test("a peer that does not read does not delay messages to others")
  func congested() async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    let deaf = try #require(PacketSocket(path))
    try await wait { server.connectionCount == 1 }
    let worker = try UnixSocketTransport(connectedTo: path)
    try await wait { server.connectionCount == 2 }
    let heard = Heard()
    let listener = try worker.subscribe(to: "work", group: nil) { message in
      message.answer?([2])
      heard.messages.withLock {
        $0.append(TransportMessage(payload: [], sender: .network, answer: nil))
      }
    }
    let bytes = [UInt8](repeating: 1, count: 100_000)
    for number in 1...120 {
      try server.publish(bytes, to: "work")
      try await wait { heard.count == number }
    }
    let request = try server.request([1], to: "work") { answer in
      heard.answers.withLock { $0.append(answer) }
    }
    try await wait { heard.answers.withLock { !$0.isEmpty } }
    #expect(heard.answers.withLock { $0 } == [.success([2])])
    request.end()
    // Without another peer, the error is reported.
    worker.close()
    try await wait { server.connectionCount == 1 }
    #expect(throws: TransportError.congested) { try server.publish(bytes, to: "work") }
    let refused = try server.request(bytes, to: "work") { answer in
      heard.answers.withLock { $0.append(answer) }
    }
    withExtendedLifetime((listener, refused, deaf)) { server.close() }
    // It failed once: closing does not fail it again.
    #expect(heard.answers.withLock { $0 } == [.success([2]), .failure(.congested)])
  }

  @Test("connections that are still read count towards the limit, and a freed place is used again")
  func limitOfThreads() async throws {
    let server = try UnixSocketTransport(listeningAt: path, maximumConnections: 4)
    let begun = Atomic(0)
    let isOver = Atomic(false)
    let slow = try server.subscribe(to: "slow", group: nil) { _ in
      begun.wrappingAdd(1, ordering: .relaxed)
      while !isOver.load(ordering: .relaxed) { usleep(1000) }
    }
    for number in 1...12 {
      let peer = try #require(PacketSocket(path))
      _ = peer.send(SocketFrame(.told, 0, "slow", []).bytes)
      // Connections beyond the limit are closed, so their calls never begin.
      for _ in 0..<(number <= 4 ? 100_000 : 10) where begun.load(ordering: .relaxed) < number {
        try await Task.sleep(for: .milliseconds(2))
      }
      withExtendedLifetime(peer) {}
      // A message to a closed connection is refused before its thread has ended.
      try? server.publish([1], to: "news")
    }
    #expect(begun.load(ordering: .relaxed) == 4)
    isOver.store(true, ordering: .relaxed)
    slow.end()
    try await wait { server.connectionCount == 0 }
    let next = try UnixSocketTransport(connectedTo: path)
    try await wait { server.connectionCount == 1 }
    next.close()
    server.close()
  }

  @Test(
    "a process without threads to spare refuses connections, frees closed ones, and recovers",
    .enabled(if: getuid() == 0, "needs another user, as root gets all threads"),
    .notEmulated("the emulator needs threads of its own"))
  func noMoreThreads() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      guard setgid(65533) == 0, setuid(65533) == 0 else { exit(2) }
      let server = try UnixSocketTransport(listeningAt: path)
      guard let deaf = PacketSocket(path) else { exit(3) }
      while server.connectionCount < 1 { usleep(1000) }
      let files = { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count }
      let before = files() ?? 0
      // `RLIMIT_NPROC` is 6.
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(6), &limit)
      var usual = limit
      limit.rlim_cur = 0
      guard setrlimit(__rlimit_resource_t(6), &limit) == 0 else { exit(4) }
      let bytes = [UInt8](repeating: 0, count: 100_000)
      // Until a thread is needed for what waits.
      while server.connectionCount == 1 { try? server.publish(bytes, to: "news") }
      for _ in 0..<12_000 where files() != before - 1 { usleep(5000) }
      guard files() == before - 1 else { exit(5) }
      let late = PacketSocket(path)
      guard late?.receive() == nil else { exit(6) }
      guard (try? UnixSocketTransport(connectedTo: path)) == nil else { exit(7) }
      setrlimit(__rlimit_resource_t(6), &usual)
      let other = try UnixSocketTransport(connectedTo: path)
      while server.connectionCount < 1 { usleep(1000) }
      withExtendedLifetime((other, deaf, late)) { exit(0) }
    }
  }

  @Test(
    "a process without descriptors to spare waits, and does not use a whole core",
    .notEmulated("the emulator needs descriptors of its own"))
  func noMoreFiles() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      let server = try UnixSocketTransport(listeningAt: path)
      // Once there is a connection, all threads that wait for others exist.
      guard let first = PacketSocket(path) else { exit(6) }
      while server.connectionCount < 1 { usleep(1000) }
      let waiting = try (0..<16).map { _ in try SocketDescriptor.make() }
      // `RLIMIT_NOFILE` is 7. No descriptor can be opened, not even that of a timer for a later
      // attempt.
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(7), &limit)
      var usual = limit
      limit.rlim_cur = 0
      guard setrlimit(__rlimit_resource_t(7), &limit) == 0 else { exit(2) }
      for descriptor in waiting { guard try descriptor.connect(to: path) else { exit(3) } }
      // Other work of the process may use a core for a while; busy polling uses it all the time.
      let isQuiet = (0..<5).contains { _ in
        let before = clock()
        usleep(2_000_000)
        return Double(clock() - before) / 1e6 < 0.5
      }
      guard isQuiet else { exit(4) }
      // The accepting thread may already have a descriptor for the next connection.
      guard server.connectionCount <= 2 else { exit(5) }
      setrlimit(__rlimit_resource_t(7), &usual)
      for _ in 0..<6000 where server.connectionCount < 17 { usleep(10_000) }
      guard server.connectionCount == 17 else { exit(7) }
      withExtendedLifetime(first) {}
      server.close()
      exit(0)
    }
  }
}
