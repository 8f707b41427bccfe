// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Foundation
import RemoteTestSupport
import Synchronization
import Testing

@testable import ForwardingRemote

#if canImport(Glibc)
  import Glibc
#endif

/// Calls that wait in this process because the peer does not read.
@Suite("Calls that wait to be sent", .timeLimit(.minutes(10)))
struct OutboxTests {
  private let name = "tally \(UInt32.random(in: 0 ... .max))"
  private let path = socketPath()

  /// A peer that accepts a connection, and reads only on request.
  private final class Deaf {
    private let door: SocketDescriptor
    private var connection: SocketDescriptor?

    init(_ path: String) throws {
      door = try SocketDescriptor.make()
      try door.listen(at: path)
    }

    func accept() {
      connection = door.accept()
    }

    func read() -> SocketFrame? {
      var room = SocketDescriptor.room(of: 200_000)
      return connection?.receive(into: &room).flatMap { SocketFrame(room[..<$0]) }
    }

    /// Ends the peer as if its process were killed.
    func end() {
      connection?.close()
      door.close()
    }
  }

  /// A client whose next messages have to wait.
  private func full() throws -> (Deaf, UnixSocketTransport) {
    let deaf = try Deaf(path)
    let client = try UnixSocketTransport(connectedTo: path)
    deaf.accept()
    let bytes = [UInt8](repeating: 1, count: 100_000)
    while client.budget.waiting == 0 { try client.publish(bytes, to: "news") }
    return (deaf, client)
  }

  /// How many requests have been passed to all their connections.
  private func handedOver(_ transport: UnixSocketTransport) -> Int {
    transport.state.read { $0.requests.values.count { !$0.isBeingSent } }
  }

  @Test("unsent calls of an ended peer are sent to the next one, and performed once")
  func unsent() async throws {
    // The reading thread and the sending thread report the end, in any order.
    for round in 0..<20 {
      let (deaf, client) = try full()
      let remote = RemoteProxy(try Tally.interface(), client, at: name, deadline: .seconds(300))
      let endings = Endings()
      async let calls: Void = endings.send(0..<100, to: remote, atATime: 100)
      while handedOver(client) < 100 { try await Task.sleep(for: .milliseconds(1)) }
      deaf.end()
      unlink(path)
      let server = try UnixSocketTransport(listeningAt: path)
      let host = RemoteHost(server, as: name)
      let tally = Tally()
      try host.expose(tally, Tally.interface())
      await calls
      // The next connection may be there before its host.
      #expect(endings.sum == 100)
      #expect(Set(endings.others.keys).isSubset(of: ["unreachable"]), "round \(round)")
      #expect(tally.count == endings.answered.count && tally.twice == 0)
      #expect(client.budget.waiting == 0)
      host.close()
      client.close()
      server.close()
    }
  }

  @Test("a waiting call whose deadline passes, or that is cancelled, is not sent")
  func late() async throws {
    let (deaf, client) = try full()
    let remote = RemoteProxy(try Tally.interface(), client, at: name, deadline: .seconds(300))
    let cancelled = Task { try await Tally.take(1, on: remote) }
    while handedOver(client) < 1 { try await Task.sleep(for: .milliseconds(1)) }
    cancelled.cancel()
    await #expect(throws: RemoteError.cancelled) { try await cancelled.value }
    remote.deadline = .milliseconds(50)
    await #expect(throws: RemoteError.timedOut) { try await Tally.take(2, on: remote) }
    try client.publish([], to: "end")
    var asked = 0
    while let frame = deaf.read(), frame.subject != RemoteSubject("end").number {
      if frame.kind == .asked { asked += 1 }
    }
    #expect(asked == 0)
    // A message arrives before its sender has released its room.
    while client.budget.waiting > 0 { try await Task.sleep(for: .milliseconds(1)) }
    client.close()
    deaf.end()
    unlink(path)
  }

  @Test("flushing fails if messages that wait are lost", arguments: [true, false])
  func flushed(isClosed: Bool) async throws {
    let (deaf, client) = try full()
    let flushing = Task { try await client.flush(within: .seconds(300)) }
    // It has begun, most likely.
    try await Task.sleep(for: .milliseconds(200))
    if isClosed { client.close() } else { deaf.end() }
    await #expect(throws: isClosed ? TransportError.closed : .interrupted) {
      try await flushing.value
    }
    if isClosed { deaf.end() } else { client.close() }
    unlink(path)
  }
}
