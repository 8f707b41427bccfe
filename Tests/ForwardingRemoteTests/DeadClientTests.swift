// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import ForwardingWire
import RemoteTestSupport
import Synchronization
import Testing

@Suite("Calls of clients that are gone", .timeLimit(.minutes(10)))
struct DeadClientTests {
  private let path = socketPath()

  @Test("the calls of an ended connection are cancelled and free their places, and no others")
  func cancelled() async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    let host = RemoteHost(server, as: "bank")
    host.limit = 100
    let vault = Vault()
    vault.isOpen.store(false, ordering: .relaxed)
    try host.expose(vault, Vault.interface())
    let clients = try (0..<2).map { _ in try UnixSocketTransport(connectedTo: path) }
    let remotes = try clients.map {
      RemoteProxy(try Vault.interface(), $0, at: "bank", deadline: .seconds(300))
    }
    let other = Task { try await Vault.hold(on: remotes[1]) }
    let calls = (0..<99).map { _ in Task { try await Vault.sleep(600_000, on: remotes[0]) } }
    while host.statistics.asked < 100 { try await Task.sleep(for: .milliseconds(1)) }
    await #expect(throws: RemoteError.refused(.busy, "")) {
      try await Vault.deposit(1, on: remotes[1])
    }
    // The system ends the connections of a process that dies in the same way.
    clients[0].close()
    for call in calls { await #expect(throws: RemoteError.closed) { try await call.value } }
    for _ in 0..<3000 where vault.cancellations.load(ordering: .relaxed) < 99 {
      try await Task.sleep(for: .milliseconds(10))
    }
    let cancellations = vault.cancellations.load(ordering: .relaxed)
    try #require(cancellations == 99)
    vault.isOpen.store(true, ordering: .relaxed)
    try await other.value
    while host.statistics.failed < 99 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try await Vault.deposit(1, on: remotes[1]) == 1)
    clients[1].close()
    host.close()
    server.close()
  }

  @Test(
    "a dead client's call is cancelled at each object that its host exposes, and one that ended first keeps none from it"
  )
  func sharedName() async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    let host = RemoteHost(server, as: "bank")
    let vaults = [Vault(), Vault(), Vault()]
    for vault in vaults { try host.expose(vault, Vault.interface()) }
    let client = try UnixSocketTransport(connectedTo: path)
    let remote = RemoteProxy(
      try Vault.interface(), client, at: "bank", deadline: .seconds(300))
    vaults[1].naps = 1
    let call = Task { try await Vault.sleep(600_000, on: remote) }
    while host.statistics.asked < 3 || host.statistics.answered < 1 {
      try await Task.sleep(for: .milliseconds(1))
    }
    try await call.value
    client.close()
    for vault in [vaults[0], vaults[2]] {
      while vault.cancellations.load(ordering: .relaxed) < 1 {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    host.close()
    server.close()
  }
}
