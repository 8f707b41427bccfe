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
    "Servers that are joined as hub and leaf node", .serialized, .timeLimit(.minutes(60)),
    .enabled(if: NATSServer.program != nil, "no nats-server is installed"))
  struct LeafNodeTests {
    private let folder: TemporaryFolder
    private let hub: NATSServer
    private let leaf: NATSServer

    init() throws {
      folder = try TemporaryFolder()
      // The hub picks the port for leaf nodes, and writes it into its log before it is ready.
      hub = try NATSServer(
        configuration: """
          log_file: "\(folder.path("log"))"
          leafnodes { listen: "127.0.0.1:-1" }
          """, in: folder)
      let log = try String(contentsOfFile: folder.path("log"), encoding: .utf8)
      let port = try #require(log.firstMatch(of: /leafnode connections on .*:(\d+)/)).1
      leaf = try NATSServer(
        configuration: "leafnodes { remotes: [{ url: \"nats://127.0.0.1:\(port)\" }] }",
        in: folder)
    }

    /// Waits until `count` hosts can be reached, as the servers exchange their subscriptions.
    private func reach(_ count: Int, _ remote: RemoteProxy) async throws {
      var reached = 0
      while reached != count {
        let answers = try? await remote.gather(expecting: count + 1, within: .milliseconds(100)) {
          try await Vault.deposit(0, on: $0)
        }
        reached = answers?.answers.count ?? 0
      }
    }

    @Test(
      "a call crosses both servers, is cancelled there, and is unreachable at once",
      arguments: [true, false])
    func calls(isAtHub: Bool) async throws {
      let (near, far) = isAtHub ? (leaf, hub) : (hub, leaf)
      let bank = try Bank((far.connect(), near.connect()))
      let (host, remote) = (bank.host, bank.remote)
      try await reach(1, remote)
      #expect(try await Vault.deposit(7, on: remote) == 7)
      let before = host.statistics.asked
      let waiting = Task { try await Vault.sleep(600_000, on: remote) }
      try await eventually { host.statistics.asked > before }
      waiting.cancel()
      await #expect(throws: RemoteError.cancelled) { try await waiting.value }
      try await eventually { bank.vault.cancellations > 0 }
      #expect(await isUnheard { try await Vault.deposit(7, on: bank.proxy(at: "nobody")) })
      host.close()
      // A call is lost until one server has the subscription from the other.
      remote.deadline = .milliseconds(200)
      try await eventually { await isUnheard { try await Vault.deposit(7, on: remote) } }
      #expect(bank.vault.balance == 7)
    }

    @Test(
      "one member of a group at two servers performs a call, and the other one after its end")
    func group() async throws {
      let leafEnd = try leaf.connect()
      let hubBank = try Bank((hub.connect(), hub.connect()), as: "bank", group: "tellers")
      let remotes = [
        hubBank.remote,
        RemoteProxy(try Vault.interface(), leafEnd, at: "bank", deadline: .seconds(3000)),
      ]
      // The leaf node's host is there once that of the hub can be reached.
      try await reach(1, remotes[1])
      let leafBank = try Bank((leaf.connect(), leafEnd), as: "bank", group: "tellers")
      try await reach(1, remotes[1])
      let banks = [hubBank, leafBank]
      var sum: Int32 = 0
      for remote in remotes {
        for _ in 0..<100 {
          _ = try await Vault.deposit(1, on: remote)
          sum += 1
          #expect(banks.map(\.vault.balance).reduce(0, +) == sum)
        }
      }
      let balance = hubBank.vault.balance
      leafBank.host.close()
      try await reach(1, remotes[1])
      #expect(try await Vault.deposit(1, on: remotes[1]) == balance + 1)
    }
  }
#endif
