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
