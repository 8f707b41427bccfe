// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import ForwardingWire
import RemoteTestSupport
import Synchronization
import Testing

@testable import ForwardingRemote

#if canImport(Glibc)
  import Glibc
#endif

@Suite("A connection whose thread is in a slow method", .timeLimit(.minutes(10)))
struct SlowReaderTests {
  private let path = socketPath()

  private func serve() throws -> (UnixSocketTransport, RemoteHost) {
    let server = try UnixSocketTransport(listeningAt: path)
    let host = RemoteHost(server, as: "bank")
    try host.expose(Vault(), Vault.interface())
    return (server, host)
  }

  @Test("a client reconnects while the old connection's thread performs a call, and only once")
  func reconnects() async throws {
    var (server, host) = try serve()
    let client = try UnixSocketTransport(connectedTo: path)
    let interruptions = Atomic(0)
    let remote = RemoteProxy(try Vault.interface(), client, at: "bank", deadline: .seconds(300))
    remote.onInterruption = { interruptions.add(1, ordering: .relaxed) }
    // Messages that take long, on the client's reading thread.
    let begun = Atomic(0)
    let isOver = Atomic(false)
    let slow = try client.subscribe(to: "slow", group: nil) { _ in
      begun.add(1, ordering: .relaxed)
      while !isOver.load(ordering: .relaxed) { usleep(1000) }
    }
    #expect(try await Vault.deposit(1, on: remote) == 1)
    let onItsWay = Task { try await Vault.sleep(600_000, on: remote) }
    while host.statistics.asked < 2 { try await Task.sleep(for: .milliseconds(1)) }
    for round in 1...3 {
      try server.publish([1], to: "slow")
      while begun.load(ordering: .relaxed) < round { try await Task.sleep(for: .milliseconds(1)) }
      host.close()
      server.close()
      (server, host) = try serve()
      #expect(try await Vault.deposit(1, on: remote) == 1)
    }
    isOver.store(true, ordering: .relaxed)
    await #expect(throws: RemoteError.self) { try await onItsWay.value }
    while client.state.read({ $0.reading }) > 1 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try await Vault.deposit(1, on: remote) == 2)
    let count = interruptions.load(ordering: .relaxed)
    #expect(count == 3)
    #expect(server.connectionCount == 1)
    slow.end()
    client.close()
    host.close()
    server.close()
  }

  @Test("a client keeps eight old connections, and reconnects when one of them has ended")
  func most() async throws {
    let client: UnixSocketTransport
    var (server, host) = try serve()
    client = try UnixSocketTransport(connectedTo: path)
    let remote = RemoteProxy(try Vault.interface(), client, at: "bank", deadline: .seconds(300))
    let begun = Atomic(0)
    let ended = Atomic(0)
    let slow = try client.subscribe(to: "slow", group: nil) { _ in
      let number = begun.add(1, ordering: .relaxed).newValue
      while ended.load(ordering: .relaxed) < number { usleep(1000) }
    }
    #expect(try await Vault.deposit(1, on: remote) == 1)
    for round in 1...8 {
      try server.publish([1], to: "slow")
      while begun.load(ordering: .relaxed) < round { try await Task.sleep(for: .milliseconds(1)) }
      host.close()
      server.close()
      (server, host) = try serve()
      if round < 8 { #expect(try await Vault.deposit(1, on: remote) == 1) }
    }
    remote.deadline = .milliseconds(300)
    await #expect(throws: RemoteError.timedOut) { try await Vault.deposit(1, on: remote) }
    ended.store(1, ordering: .relaxed)
    remote.deadline = .seconds(300)
    #expect(try await Vault.deposit(1, on: remote) == 1)
    ended.store(8, ordering: .relaxed)
    slow.end()
    client.close()
    host.close()
    server.close()
  }
}
