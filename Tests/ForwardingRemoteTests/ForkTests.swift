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

@Suite("A process that is forked", .timeLimit(.minutes(10)))
struct ForkTests {
  @Test(
    "a child is refused by its parent's transports, can release them, and the parent goes on")
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
      // A listener that has not answered yet.
      let answers = Guarded<[@Sendable ([UInt8]) -> Void]>([])
      let listener = try there!.subscribe(to: "question", group: nil) { message in
        answers.withLock { $0.append(message.answer!) }
      }
      let heard = Guarded<[[UInt8]]>([])
      let asked = try here!.request([1], to: "question") { answer in
        heard.withLock { $0.append((try? answer.get()) ?? []) }
      }
      while answers.read({ $0.isEmpty }) { usleep(1000) }
      let child = Child {
        answers.read { $0[0] }([1])
        for transport in [there!, here!] {
          do {
            try transport.publish([1], to: "anything")
            require(false, "a child sent by its parent's socket")
          } catch TransportError.forked {}
          do {
            _ = try transport.request([1], to: "anything") { _ in }
            require(false, "a child asked by its parent's socket")
          } catch TransportError.forked {}
          do {
            _ = try transport.subscribe(to: "anything", group: nil) { _ in }
            require(false, "a child listens at its parent's socket")
          } catch TransportError.forked {}
        }
        do {
          try Vault.add.message(1, on: remote!)
          require(false, "a child told by its parent's socket")
        } catch RemoteError.unreachable(let why) {
          require(why == "\(TransportError.forked)")
        }
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
      answers.read { $0[0] }([2])
      while heard.read({ $0.isEmpty }) { usleep(1000) }
      require(heard.read { $0 } == [[2]])
      listener.end()
      asked.end()
      require(FileManager.default.fileExists(atPath: path))
      require(try await Vault.deposit(1, on: remote!) == 2)
      exit(0)
    }
  }

  @Test("a child that outlives its parent does not keep its parent's sockets open")
  func outlives() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let path = folder.path("socket")
      // Reading its other side ends with this process.
      var own: [Int32] = [0, 0]
      guard pipe(&own) == 0 else { exit(2) }
      var byte: UInt8 = 0
      let parent = Child {
        close(own[1])
        let server = try UnixSocketTransport(listeningAt: path)
        let child = Child {
          require(read(own[0], &byte, 1) == 0)
        }
        // A client has connected, and is accepted before that.
        let accepted = Guarded(false)
        let news = try server.subscribe(to: "news", group: nil) { _ in
          accepted.withLock { $0 = true }
        }
        while !accepted.read({ $0 }) { usleep(1000) }
        let late = Child {
          require(read(own[0], &byte, 1) == 0)
        }
        withExtendedLifetime((child, late, news, server)) { _exit(0) }
      }
      var client: UnixSocketTransport?
      while client == nil {
        client = try? UnixSocketTransport(connectedTo: path)
        usleep(1000)
      }
      let isBroken = Guarded(false)
      let watch = client?.onChange { _ in isBroken.withLock { $0 = true } }
      // The first ones may arrive before there is a subscription.
      while waitpid(parent.pid, nil, WNOHANG) == 0 {
        try? client?.publish([1], to: "news")
        usleep(1000)
      }
      for _ in 0..<3000 where !isBroken.read({ $0 }) { usleep(10_000) }
      guard isBroken.read({ $0 }) else { exit(3) }
      _ = try UnixSocketTransport(listeningAt: path)
      withExtendedLifetime(watch) { exit(0) }
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
          } catch RemoteError.unreachable {}
          do {
            _ = try here!.request([1], to: "anything") { _ in }
            require(false, "a child asked by its parent's connection")
          } catch TransportError.forked {}
          do {
            try host!.expose(vault, Interface("other"))
            require(false, "a child listens at its parent's connection")
          } catch TransportError.forked {}
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
