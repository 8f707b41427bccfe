// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Foundation
import RemoteTestSupport
import Synchronization
import Testing

@testable import ForwardingRemote

#if canImport(Glibc)
  import Glibc
#endif

@Suite("A socket transport that is closed meanwhile", .timeLimit(.minutes(10)))
struct SocketClosingTests {
  private let path = socketPath()

  /// Makes requests on two threads until one fails at once, and counts how they end.
  private final class Asking: Sendable {
    private let counts = LockedValue((begun: 0, ends: [TransportError: Int]()))
    private let requests = LockedValue<[any TransportRequest]>([])
    private let running = Atomic(2)

    init(_ transport: UnixSocketTransport) {
      for _ in 0..<2 {
        Thread.detachNewThread { [self] in
          while ask(transport) {}
          running.subtract(1, ordering: .releasing)
        }
      }
    }

    private func ask(_ transport: UnixSocketTransport) -> Bool {
      do throws(TransportError) {
        let request = try transport.request([1], to: "question") { [self] answer in
          if case .failure(let error) = answer { note(error) }
        }
        requests.withLock { $0.append(request) }
        counts.withLock { $0.begun += 1 }
        return true
      } catch {
        counts.withLock { $0.begun += 1 }
        note(error)
        return error == .congested
      }
    }

    private func note(_ error: TransportError) {
      counts.withLock { $0.ends[error, default: 0] += 1 }
    }

    var begun: Int { counts.withLock { $0.begun } }

    /// Whether both threads have ended.
    var isOver: Bool { running.load(ordering: .acquiring) == 0 }

    /// How many requests did not end, and how the others did.
    var ended: (open: Int, ends: [TransportError: Int]) {
      let counts = counts.withLock { $0 }
      return (counts.begun - counts.ends.values.reduce(0, +), counts.ends)
    }
  }

  @Test("each request that begins meanwhile ends as closed", arguments: [true, false])
  func requests(listenerAsks: Bool) async throws {
    for round in 0..<200 {
      let server = try UnixSocketTransport(listeningAt: path)
      let client = try UnixSocketTransport(connectedTo: path)
      while server.connectionCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
      let (asking, other) = listenerAsks ? (server, client) : (client, server)
      // It never answers.
      let listener = try other.subscribe(to: "question", group: nil) { _ in }
      let requests = Asking(asking)
      while requests.begun < 20 { try await Task.sleep(for: .milliseconds(1)) }
      asking.close()
      while !requests.isOver { try await Task.sleep(for: .milliseconds(1)) }
      let (open, ends) = requests.ended
      #expect(open == 0, "round \(round): \(ends)")
      #expect(Set(ends.keys).isSubset(of: [.closed, .congested]), "round \(round): \(ends)")
      listener.end()
      other.close()
    }
  }

  @Test("a listener's request to a subscriber of its own process ends as well", arguments: [0, 1])
  func ownRequest(peers: Int) async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    let clients = try (0..<peers).map { _ in try UnixSocketTransport(connectedTo: path) }
    while server.connectionCount < peers { try await Task.sleep(for: .milliseconds(1)) }
    // It never answers.
    let listener = try server.subscribe(to: "question", group: nil) { _ in }
    let ends = LockedValue<[TransportError]>([])
    let request = try server.request([1], to: "question") { answer in
      if case .failure(let error) = answer { ends.withLock { $0.append(error) } }
    }
    server.close()
    #expect(ends.withLock { $0 } == [.closed])
    for client in clients { client.close() }
    withExtendedLifetime((listener, request)) {}
  }

  @Test("a listener's request that has no listener anywhere ends at once")
  func nowhere() throws {
    let server = try UnixSocketTransport(listeningAt: path)
    let ends = LockedValue<[TransportError]>([])
    let request = try server.request([1], to: "question") { answer in
      if case .failure(let error) = answer { ends.withLock { $0.append(error) } }
    }
    #expect(ends.withLock { $0 } == [.nobodyListens])
    request.end()
    #expect(server.state.read { $0.requests.isEmpty })
    server.close()
  }

  @Test(
    "a request that was sent over a connection that gets no thread ends",
    .enabled(if: getuid() == 0, "needs another user, as root gets all threads"),
    .notEmulated("the emulator needs threads of its own"))
  func noThread() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      guard setgid(65532) == 0, setuid(65532) == 0 else { exit(2) }
      let server = try UnixSocketTransport(listeningAt: path)
      let batches = Batches(server)
      while batches.begun.load(ordering: .relaxed) < 2 { usleep(10) }
      // `RLIMIT_NPROC` is 6.
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(6), &limit)
      limit.rlim_cur = 0
      guard setrlimit(__rlimit_resource_t(6), &limit) == 0 else { exit(3) }
      var tries = 0
      // On a busy machine, many connections fail before a request was sent over one.
      while tries < 2_000 || batches.interrupted.load(ordering: .relaxed) == 0 && tries < 200_000 {
        tries += 1
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { exit(4) }
        let connection = SocketConnection(SocketDescriptor(number: ends[0]), server.budget)
        guard !server.begin(connection) else { exit(5) }
        batches.connections.add(1, ordering: .relaxed)
        close(ends[1])
      }
      batches.end()
      guard batches.interrupted.load(ordering: .relaxed) > 0 else { exit(6) }
      exit(batches.open.load(ordering: .relaxed) == 0 ? 0 : 7)
    }
  }

  /// Makes requests on two threads, a few at a time, and counts those that have not ended when the
  /// connections that they may have been sent over have.
  private final class Batches: Sendable {
    /// How many connections have failed.
    let connections = Atomic(0)
    let begun = Atomic(0)
    let open = Atomic(0)
    let interrupted = Atomic(0)
    private let group = DispatchGroup()
    private let isOver = Atomic(false)

    init(_ transport: UnixSocketTransport) {
      for _ in 0..<2 {
        group.enter()
        Thread.detachNewThread { [self] in
          while !isOver.load(ordering: .relaxed) { ask(transport) }
          group.leave()
        }
      }
    }

    private func ask(_ transport: UnixSocketTransport) {
      let ended = LockedValue(0)
      let requests = (0..<20).map { _ in
        try? transport.request([1], to: "question") { [self] answer in
          if case .failure(.interrupted) = answer { interrupted.add(1, ordering: .relaxed) }
          ended.withLock { $0 += 1 }
        }
      }
      begun.add(1, ordering: .relaxed)
      let next = connections.load(ordering: .relaxed) + 2
      while !isOver.load(ordering: .relaxed), connections.load(ordering: .relaxed) < next {}
      let sent = requests.compactMap { $0 }
      open.add(sent.count - ended.withLock { $0 }, ordering: .relaxed)
      for request in sent { request.end() }
    }

    func end() {
      isOver.store(true, ordering: .relaxed)
      group.wait()
    }
  }
}
