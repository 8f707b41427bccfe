// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import RemoteTestSupport
import Synchronization
import Testing

@Suite("Two ends of a socket with different limits", .timeLimit(.minutes(10)))
struct SocketLimitTests {
  private let path = socketPath()
  private let small = 1024
  private let large = 128 << 10

  /// A host and a proxy whose transports carry messages of at most these numbers of bytes, and five
  /// calls on their way. A vault that is opened ends the calls.
  private struct Pair {
    let server: UnixSocketTransport
    let client: UnixSocketTransport
    let host: RemoteHost
    let vault = Vault()
    let remote: RemoteProxy
    let others: [Task<Void, any Error>]

    init(_ path: String, host most: Int, client least: Int) async throws {
      server = try UnixSocketTransport(listeningAt: path, maximumPayload: most)
      client = try UnixSocketTransport(connectedTo: path, maximumPayload: least)
      host = RemoteHost(server, as: "bank")
      vault.isOpen.store(false, ordering: .relaxed)
      try host.expose(vault, Vault.interface())
      let remote = RemoteProxy(try Vault.interface(), client, at: "bank", deadline: .seconds(300))
      self.remote = remote
      others = (0..<5).map { _ in Task { try await Vault.hold(on: remote) } }
      while host.statistics.asked < 5 { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Ends the other calls, which must have an answer.
    func end() async throws {
      vault.isOpen.store(true, ordering: .relaxed)
      for other in others { try await other.value }
      client.close()
      host.close()
      server.close()
    }
  }

  @Test("an answer beyond the limit of the caller fails its own call, and no other")
  func answer() async throws {
    let pair = try await Pair(path, host: large, client: small)
    let error = TransportError.tooLarge(limit: small, given: 5024)
    await #expect(throws: RemoteError.notCarried(error)) {
      try await Vault.text(5000, on: pair.remote)
    }
    #expect(try await Vault.text(1000, on: pair.remote).utf8.count == 1000)
    try await pair.end()
    #expect(pair.remote.statistics == RemoteStatistics(asked: 7, answered: 6, failed: 1))
  }

  @Test("a call beyond the limit of the host is refused, and no other")
  func call() async throws {
    let pair = try await Pair(path, host: small, client: large)
    let name = String(repeating: "x", count: 5000)
    let error = TransportError.tooLarge(limit: small, given: 5024)
    await #expect(throws: RemoteError.refused(.malformed, "\(error)")) {
      try await Vault.name(name, on: pair.remote)
    }
    #expect(try await Vault.deposit(1, on: pair.remote) == 1)
    try await pair.end()
  }

  @Test("a message beyond the limit of its receiver that is not awaited is ignored")
  func told() async throws {
    let pair = try await Pair(path, host: small, client: large)
    let sizes = Atomic(0)
    let listener = try pair.server.subscribe(to: "news", group: nil) {
      sizes.add($0.payload.count, ordering: .relaxed)
    }
    for size in [1024, 1025, 100_000] {
      try pair.client.publish([UInt8](repeating: 1, count: size), to: "news")
    }
    #expect(try await Vault.deposit(1, on: pair.remote) == 1)
    let sum = sizes.load(ordering: .relaxed)
    #expect(sum == 1024)
    listener.end()
    try await pair.end()
  }
}
