// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Foundation
import RemoteTestSupport
import Synchronization
import Testing

@testable import ForwardingRemote

import Glibc

/// The states of a socket connection, as drawn in `Documentation/Remote.md`.
@Suite("The states of a connection", .timeLimit(.minutes(60)))
struct ConnectionStateTests {
  private let name = "tally \(UInt32.random(in: 0 ... .max))"
  private let path = socketPath()

  /// The environment variable `REMOTE_KILLS` sets the number.
  private static let calls =
    ProcessInfo.processInfo.environment["REMOTE_KILLS"].flatMap { Int($0) } ?? 20_000

  @Test("a host is killed six times: only calls that were in flight are interrupted")
  func counted() async throws {
    let processes = HostProcesses()
    try processes.start(path, name)
    defer { processes.kill() }
    let here = try await connected()
    let remote = RemoteProxy(try Tally.interface(), here, at: name, deadline: .seconds(3000))
    try await HostProcess.wait(for: remote)
    let endings = Endings()
    let (calls, width, kills) = (Self.calls, 100, 6)
    async let sent: Void = endings.send(0..<calls, to: remote, atATime: width)
    await endings.each((1...kills).map { $0 * calls / (kills + 1) }) { [path, name] in
      processes.kill()
      #expect(throws: Never.self) { try processes.start(path, name) }
    }
    await sent
    #expect(endings.sum == calls)
    let interrupted = endings.others["interrupted", default: 0]
    #expect(interrupted > 0 && interrupted <= kills * width, "\(endings.others)")
    #expect(Set(endings.others.keys).isSubset(of: ["interrupted", "unreachable"]))
    try await HostProcess.wait(for: remote)
    #expect(try await Tally.twice(on: remote) == 0)
  }

  @Test(
    "a call sent into a connection that has just ended is not lost: it waits for the next one")
  func justEnded() async throws {
    var answered = 0
    for number in 0..<20 {
      let server = try UnixSocketTransport(listeningAt: path)
      let client = try UnixSocketTransport(connectedTo: path)
      let remote = RemoteProxy(try Tally.interface(), client, at: name, deadline: .seconds(3000))
      while server.connectionCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
      server.close()
      // At once, before this side notices the end.
      let endings = Endings()
      async let calls: Void = endings.send(0..<10, to: remote, atATime: 10)
      let next = try UnixSocketTransport(listeningAt: path)
      let host = RemoteHost(next, as: name)
      try host.expose(Tally(), Tally.interface())
      await calls
      // The next connection may be there before its host.
      #expect(Set(endings.others.keys).isSubset(of: ["unreachable"]), "round \(number)")
      #expect(endings.sum == 10)
      answered += endings.answered.count
      host.close()
      client.close()
      next.close()
    }
    #expect(answered > 0)
  }

  /// What a peer says before it hangs up: nothing, something that it may say, or something else.
  @Test(
    "a client pauses before it reconnects to a peer that hangs up, whatever that says before",
    arguments: [[], SocketFrame(.nobody, 0, nil, []).bytes, Array("220 welcome".utf8)])
  func saying(words: [UInt8]) async throws {
    let door = try SocketDescriptor.make()
    try door.listen(at: path)
    let knocks = Knocks(door, saying: words)
    let start = ContinuousClock.now
    let client = try UnixSocketTransport(connectedTo: path)
    // A call ends, if only at its deadline: it is not sent, or lost with its connection.
    let remote = RemoteProxy(try Tally.interface(), client, at: name, deadline: .seconds(1))
    let endings = Endings()
    await endings.send(0..<100, to: remote, atATime: 100)
    #expect(endings.sum == 100)
    #expect(Set(endings.others.keys).isSubset(of: ["interrupted", "timed out"]))
    try await Task.sleep(for: .seconds(1))
    let count = knocks.count.load(ordering: .relaxed)
    // At least 50 ms between two attempts.
    let most = Int((ContinuousClock.now - start) / .milliseconds(50)) + 2
    #expect(count <= most, "\(count), and not \(most)")
    client.close()
    door.shutDown()
    unlink(path)
  }

  private func connected() async throws -> UnixSocketTransport {
    while true {
      if let transport = try? UnixSocketTransport(connectedTo: path) { return transport }
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}

/// Accepts connections, and hangs up on them.
private final class Knocks: Sendable {
  let count = Atomic(0)

  init(_ door: SocketDescriptor, saying words: [UInt8]) {
    Thread.detachNewThread { [self] in
      while let new = door.accept() {
        count.wrappingAdd(1, ordering: .relaxed)
        if !words.isEmpty { _ = new.send(words) }
        new.close()
      }
    }
  }
}
