// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import RemoteTestSupport
import Synchronization
import Testing

@testable import ForwardingRemote

import Glibc

@Suite("Both ends of a socket at the same time", .timeLimit(.minutes(60)))
struct SocketRaceTests {
  private let path = socketPath()

  @Test("300 concurrent calls in each direction, which all call back, are answered, ten times")
  func askingBack() async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    let client = try UnixSocketTransport(connectedTo: path)
    let (there, here) = (Mirror(), Mirror())
    let hosts = [RemoteHost(server, as: "there"), RemoteHost(client, as: "here")]
    for host in hosts { host.limit = 10_000 }
    try hosts[0].expose(there, Mirror.interface())
    try hosts[1].expose(here, Mirror.interface())
    let toThere = RemoteProxy(
      try Mirror.interface(), client, at: "there", deadline: .seconds(3000))
    let toHere = RemoteProxy(try Mirror.interface(), server, at: "here", deadline: .seconds(3000))
    for remote in [toThere, toHere] { remote.inFlightLimit = 10_000 }
    there.other.withLock { $0 = toHere }
    here.other.withLock { $0 = toThere }
    while server.connectionCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
    let answers = await withTaskGroup(of: Int?.self) { tasks in
      for number in 0..<600 {
        tasks.addTask { try? await Mirror.bounce(10, on: number % 2 == 0 ? toThere : toHere) }
      }
      return await tasks.reduce(into: []) { $0.append($1) }
    }
    #expect(answers == Array(repeating: 10, count: 600))
    for mirror in [there, here] { mirror.other.withLock { $0 = nil } }
    for host in hosts { host.close() }
    client.close()
    server.close()
  }

  @Test(
    "connections that end in any way, from many threads at once, leave no descriptor and no thread")
  func ends() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      await Task.yield()
      let before = Open()
      for round in 0..<300 {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { exit(2) }
        let told = LockedValue(0)
        let connection = SocketConnection(SocketDescriptor(number: ends[0]))
        // Every tenth round, a message ends the connection.
        let hasBegun = connection.begin { connection, bytes in
          try? connection.send(bytes)
          return round % 10 > 0
        } ended: { _ in
          told.withLock { $0 += 1 }
        }
        guard hasBegun else { exit(3) }
        let bytes = [UInt8](repeating: 1, count: 20_000)
        let other = ends[1]
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
          for _ in 0..<10 { try? connection.send(bytes) }
          switch (thread + round) % 4 {
          case 0, 1: connection.end()
          case 2: _ = shutdown(other, Int32(SHUT_RDWR))
          default: break
          }
        }
        close(other)
        guard told.withLock({ $0 }) <= 1 else { exit(4) }
      }
      // Only the listener retains the transport, and releases it on the reading thread.
      for _ in 0..<100 {
        let server = LockedValue<UnixSocketTransport?>(try UnixSocketTransport(listeningAt: path))
        guard let peer = PacketSocket(path) else { exit(5) }
        _ = try server.withLock { $0 }?.subscribe(to: "last", group: nil) { _ in
          let last = server.withLock { server in
            defer { server = nil }
            return server
          }
          last?.close()
        }
        _ = peer.send(SocketFrame(.told, 0, "last", []).bytes)
        guard peer.receive() == nil else { exit(6) }
      }
      for _ in 0..<6000 where !Open().isWithin(before) { usleep(10_000) }
      exit(Open().isWithin(before) ? 0 : 7)
    }
  }

  /// The descriptors and threads of this process.
  private struct Open {
    let files = count("fd")
    let threads = count("task")

    /// Whether there are no more than before, except for those of Dispatch and of tasks.
    func isWithin(_ before: Open) -> Bool {
      files <= before.files + 8 && threads <= before.threads + 16
    }

    private static func count(_ folder: String) -> Int {
      ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/" + folder)) ?? []).count
    }
  }
}

/// A target that calls another one back before it answers.
private final class Mirror: Sendable {
  let other = LockedValue<RemoteProxy?>(nil)

  /// How many times it was called back.
  static let bounce = try! AsyncMessage<Int, Int>("mirrorBounce:")

  private static let isReady: Void = {
    do {
      try MethodTable.of(Mirror.self).register("mirrorBounce:") {
        (mirror: Mirror, count: Int) async throws in
        guard count > 0, let other = mirror.other.withLock({ $0 }) else { return 0 }
        return try await Mirror.bounce(count - 1, on: other) + 1
      }
    } catch { fatalError("\(error)") }
  }()

  init() { Self.isReady }

  static func interface() throws -> Interface {
    var interface = Interface("mirror")
    try interface.allow(bounce)
    return interface
  }
}
