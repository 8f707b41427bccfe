// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Foundation
import RemoteTestSupport
import Synchronization
import Testing

@testable import ForwardingRemote

import Glibc

/// Calls that wait in this process because the peer does not read.
@Suite("Calls that wait to be sent", .timeLimit(.minutes(60)))
struct OutboxTests {
  private let name = "tally \(UInt32.random(in: 0 ... .max))"
  private let path = socketPath()

  /// A peer that accepts a connection, and does not read.
  private struct Deaf {
    private let door: SocketDescriptor
    private let connection: SocketDescriptor

    /// Makes the peer, and a client whose next messages have to wait.
    static func withClient(_ path: String) throws -> (Deaf, UnixSocketTransport) {
      let door = try SocketDescriptor.make()
      try door.listen(at: path)
      let client = try UnixSocketTransport(connectedTo: path)
      let deaf = Deaf(door: door, connection: try #require(door.accept()))
      let bytes = [UInt8](repeating: 1, count: 100_000)
      while client.state.read({ $0.connections[0].waiting }) == 0 {
        try client.publish(bytes, to: "news")
      }
      return (deaf, client)
    }

    /// Ends the peer as if its process were killed.
    func end(_ path: String) {
      connection.close()
      door.close()
      unlink(path)
    }
  }

  @Test("calls that wait when the peer ends are interrupted, and the next peer does not get them")
  func lost() async throws {
    let (deaf, client) = try Deaf.withClient(path)
    let remote = RemoteProxy(try Tally.interface(), client, at: name, deadline: .seconds(3000))
    let endings = Endings()
    async let calls: Void = endings.send(0..<100, to: remote, atATime: 100)
    while client.state.read({ $0.requests.count }) < 100 {
      try await Task.sleep(for: .milliseconds(1))
    }
    deaf.end(path)
    let server = try UnixSocketTransport(listeningAt: path)
    let host = RemoteHost(server, as: name)
    let tally = Tally()
    try host.expose(tally, Tally.interface())
    await calls
    #expect(endings.others == ["interrupted": 100])
    try await HostProcess.wait(for: remote)
    #expect(try await Tally.take(100, on: remote) == 100)
    #expect(tally.count == 1)
    host.close()
    client.close()
    server.close()
  }

  @Test("flushing fails if messages that wait are lost", arguments: [true, false])
  func flushed(isClosed: Bool) async throws {
    let (deaf, client) = try Deaf.withClient(path)
    // It begins before this goes on.
    let flushing = Task.immediate { try await client.flush(within: .seconds(3000)) }
    if isClosed { client.close() } else { deaf.end(path) }
    await #expect(throws: isClosed ? TransportError.closed : .interrupted) {
      try await flushing.value
    }
    if isClosed { deaf.end(path) } else { client.close() }
  }
}
