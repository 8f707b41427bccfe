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
      let path = socketPath()
      var bank: Bank? = try Bank(
        (UnixSocketTransport(listeningAt: path), UnixSocketTransport(connectedTo: path)))
      require(try await Vault.deposit(1, on: bank!.remote) == 1)
      let child = Child {
        bank!.here.close()
        bank = nil
        // A transport that the child makes works as usual.
        let own = try Bank()
        try Vault.add.message(1, on: own.remote)
        require(own.vault.balance == 1 && own.host.statistics.told == 1)
      }
      require(child.wait() == 0)
      require(FileManager.default.fileExists(atPath: path))
      require(try await Vault.deposit(1, on: bank!.remote) == 2)
      bank!.there.close()
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
        var bank: Bank? = try Bank((server.connect(), server.connect()))
        require(try await Vault.deposit(1, on: bank!.remote) == 1)
        let child = Child {
          do {
            try Vault.add.message(1, on: bank!.remote)
            require(false, "a child told by its parent's connection")
          } catch RemoteError.closed {}
          do {
            _ = try bank!.here.request([1], to: "anything") { _ in }
            require(false, "a child asked by its parent's connection")
          } catch TransportError.closed {}
          do {
            try bank!.host.expose(Vault(), Interface("other"))
            require(false, "a child listens at its parent's connection")
          } catch TransportError.closed {}
          bank!.here.close()
          bank = nil
        }
        require(child.wait() == 0)
        require(try await Vault.deposit(1, on: bank!.remote) == 2)
        server.stop()
        exit(0)
      }
    }
  #endif
}
