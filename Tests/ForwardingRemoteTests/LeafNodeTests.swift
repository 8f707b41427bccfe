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

    private func proxy(_ server: NATSServer, _ name: String = "bank") throws -> RemoteProxy {
      RemoteProxy(
        try Vault.interface(), try server.connect(), at: name, deadline: .seconds(3000))
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
      let host = RemoteHost(try far.connect(), as: "bank")
      let vault = Vault()
      try host.expose(vault, Vault.interface())
      let remote = try proxy(near)
      try await reach(1, remote)
      #expect(try await Vault.deposit(7, on: remote) == 7)
      let before = host.statistics.asked
      let waiting = Task { try await Vault.sleep(600_000, on: remote) }
      while host.statistics.asked == before { try await Task.sleep(for: .milliseconds(1)) }
      waiting.cancel()
      await #expect(throws: RemoteError.cancelled) { try await waiting.value }
      while vault.cancellations.load(ordering: .relaxed) == 0 {
        try await Task.sleep(for: .milliseconds(1))
      }
      #expect(await isUnheard { try await Vault.deposit(7, on: proxy(near, "nobody")) })
      host.close()
      // A call is lost until one server has the subscription from the other.
      remote.deadline = .milliseconds(200)
      var error: RemoteError?
      while error?.isUnheard != true {
        do {
          _ = try await Vault.deposit(7, on: remote)
        } catch let thrown as RemoteError { error = thrown }
      }
      #expect(vault.balance == 7)
    }

    @Test(
      "one member of a group at two servers performs a call, and the other one after its end")
    func group() async throws {
      let remotes = try [proxy(hub), proxy(leaf)]
      let hosts = try [hub, leaf].map { RemoteHost(try $0.connect(), as: "bank") }
      let vaults = [Vault(), Vault()]
      for (host, vault) in zip(hosts, vaults) {
        try host.expose(vault, Vault.interface(), group: "tellers")
        // The leaf node's host is there once that of the hub can be reached.
        try await reach(1, remotes[1])
      }
      var sum: Int32 = 0
      for remote in remotes {
        for _ in 0..<100 {
          _ = try await Vault.deposit(1, on: remote)
          sum += 1
          #expect(vaults.map(\.balance).reduce(0, +) == sum)
        }
      }
      let balance = vaults[0].balance
      hosts[1].close()
      try await reach(1, remotes[1])
      #expect(try await Vault.deposit(1, on: remotes[1]) == balance + 1)
      hosts[0].close()
    }
  }
#endif
