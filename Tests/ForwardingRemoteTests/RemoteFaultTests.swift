// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import RemoteTestSupport
import Synchronization
import Testing

import Glibc

@Suite("Failures of calls to other processes", .timeLimit(.minutes(60)))
struct RemoteFaultTests {
  private let name = "bank \(UInt32.random(in: 0 ... .max))"

  @Test(
    "a message that is larger than the transport carries is refused by the sender",
    arguments: Way.allCases)
  func large(way: Way) async throws {
    let (there, here) = try way.ends()
    let limit = here.maximumPayload
    #expect(throws: TransportError.tooLarge(limit: limit, given: limit + 1)) {
      try here.publish([UInt8](repeating: 0, count: limit + 1), to: "anything")
    }
    let received = Atomic(0)
    let listener = try there.subscribe(to: "large", group: nil) {
      received.store($0.payload.count, ordering: .relaxed)
    }
    try here.publish([UInt8](repeating: 1, count: limit), to: "large")
    while received.load(ordering: .relaxed) == 0 { try await Task.sleep(for: .milliseconds(1)) }
    let count = received.load(ordering: .relaxed)
    #expect(count == limit)
    listener.end()
  }

  @Test(
    "a result that is larger than the transport carries is refused by the host",
    arguments: Way.allCases)
  func largeResult(way: Way) async throws {
    let (there, here) = try way.ends()
    let host = RemoteHost(there, as: name)
    defer { host.close() }
    try host.expose(Vault(), Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
    let limit = there.maximumPayload
    // The answer has 20 bytes in front of the text, and four for its length.
    let length = try await Vault.text(limit - 24, on: remote).utf8.count
    #expect(length == limit - 24)
    let error = TransportError.tooLarge(limit: limit, given: limit + 1)
    await #expect(throws: RemoteError.refused(.unsendableResult, "\(error)")) {
      try await Vault.text(limit - 23, on: remote)
    }
    #expect(host.statistics.refused == 1)
  }

  @Test("a broken connection fails calls in flight, and is restored")
  func interrupted() async throws {
    let path = socketPath()
    var server: UnixSocketTransport? = try UnixSocketTransport(listeningAt: path)
    let client = try UnixSocketTransport(connectedTo: path)
    let remote = RemoteProxy(try Vault.interface(), client, at: name, deadline: .seconds(3000))
    let interruptions = Atomic(0)
    let watch = client.onChange {
      if $0 == .interrupted { interruptions.add(1, ordering: .relaxed) }
    }
    defer { watch.end() }
    let host = RemoteHost(try #require(server), as: name)
    try host.expose(Vault(), Vault.interface())
    let sleeping = Task { try await Vault.sleep(600_000, on: remote) }
    while host.statistics.asked == 0 { try await Task.sleep(for: .milliseconds(1)) }
    host.close()
    server?.close()
    server = nil
    await #expect(throws: RemoteError.interrupted) { try await sleeping.value }
    // This call waits for the connection, which may be there before its host.
    let later = Task {
      while true {
        do { return try await Vault.deposit(7, on: remote) } catch RemoteError.unreachable {}
      }
    }
    let again = try UnixSocketTransport(listeningAt: path)
    let next = RemoteHost(again, as: name)
    try next.expose(Vault(), Vault.interface())
    #expect(try await later.value == 7)
    let interrupted = interruptions.load(ordering: .relaxed)
    #expect(interrupted == 1)
    next.close()
    client.close()
    await #expect(throws: RemoteError.closed) { try await Vault.deposit(7, on: remote) }
    again.close()
  }

  @Test("the kernel identifies the sender over a socket, and a second listener is refused")
  func peers() async throws {
    let path = socketPath()
    let server = try UnixSocketTransport(listeningAt: path)
    let client = try UnixSocketTransport(connectedTo: path)
    let host = RemoteHost(server, as: name)
    try host.expose(Vault(), Vault.interface())
    let seen = Atomic(false)
    host.authorize = {
      if case .process(getpid(), getuid(), getgid()) = $0.peer {
        seen.store(true, ordering: .relaxed)
      }
      return true
    }
    let remote = RemoteProxy(try Vault.interface(), client, at: name, deadline: .seconds(3000))
    #expect(try await Vault.deposit(7, on: remote) == 7)
    let wasSeen = seen.load(ordering: .relaxed)
    #expect(wasSeen)
    #expect(throws: TransportError.unreachable("\(path): a process listens there already")) {
      try UnixSocketTransport(listeningAt: path)
    }
    host.close()
    client.close()
    server.close()
    #expect(access(path, F_OK) != 0)
    #expect(throws: TransportError.unreachable("\(path): no process listens there")) {
      try UnixSocketTransport(connectedTo: path)
    }
  }
}
