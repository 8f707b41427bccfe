// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingNATS
import ForwardingRemote
import ForwardingTestSupport
import ForwardingWire
import Foundation
import Invocations
import RemoteTestSupport
import Testing

@Suite("A process that is forked", .timeLimit(.minutes(60)))
struct ForkTests {
  @Test(
    "a child may close or release its parent's transports, and the parent goes on")
  func socket() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let path = folder.path("socket")
      var there: UnixSocketTransport? = try UnixSocketTransport(listeningAt: path)
      var here: UnixSocketTransport? = try UnixSocketTransport(connectedTo: path)
      var host: RemoteHost? = RemoteHost(there!, as: "bank")
      let vault = Vault()
      try host!.expose(vault, Vault.interface())
      var remote: RemoteProxy? = RemoteProxy(
        try Vault.interface(), here!, at: "bank", deadline: .seconds(60))
      require(try await Vault.deposit(1, on: remote!) == 1)
      let child = Child {
        here!.close()
        (remote, host, here, there) = (nil, nil, nil, nil)
        // A transport that the child makes works as usual.
        let own = InProcessTransport()
        let bank = RemoteHost(own, as: "bank")
        try bank.expose(vault, Vault.interface())
        try Vault.add.message(1, on: RemoteProxy(try Vault.interface(), own, at: "bank"))
        require(vault.balance == 2 && bank.statistics.told == 1)
      }
      require(child.wait() == 0)
      require(FileManager.default.fileExists(atPath: path))
      require(try await Vault.deposit(1, on: remote!) == 2)
      exit(0)
    }
  }

  #if NATS
    @Test(
      "a child cannot use its parent's NATS connections, may release them, and the parent goes on",
      .enabled(if: NATSServer.program != nil, "no nats-server is installed"))
    func server() async {
      await #expect(processExitsWith: .success) {
        let server = try NATSServer()
        var there: NATSTransport? = try server.connect()
        var here: NATSTransport? = try server.connect()
        var host: RemoteHost? = RemoteHost(there!, as: "bank")
        let vault = Vault()
        try host!.expose(vault, Vault.interface())
        var remote: RemoteProxy? = RemoteProxy(
          try Vault.interface(), here!, at: "bank", deadline: .seconds(60))
        require(try await Vault.deposit(1, on: remote!) == 1)
        let child = Child {
          do {
            try Vault.add.message(1, on: remote!)
            require(false, "a child told by its parent's connection")
          } catch RemoteError.closed {}
          do {
            _ = try here!.request([1], to: "anything") { _ in }
            require(false, "a child asked by its parent's connection")
          } catch TransportError.closed {}
          do {
            try host!.expose(vault, Interface("other"))
            require(false, "a child listens at its parent's connection")
          } catch TransportError.closed {}
          here!.close()
          (remote, host, here, there) = (nil, nil, nil, nil)
        }
        require(child.wait() == 0)
        require(try await Vault.deposit(1, on: remote!) == 2)
        server.stop()
        exit(0)
      }
    }
  #endif
}
