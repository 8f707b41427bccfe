// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingWire
import ForwardingTestSupport
import Foundation
import Synchronization
import RemoteTestSupport
import Testing

@testable import ForwardingRemote

import Glibc

@Suite("Faults of Unix sockets", .timeLimit(.minutes(60)))
struct SocketFaultTests {
  private let name = "tally \(UInt32.random(in: 0 ... .max))"
  private let path = socketPath()

  @Test("another user cannot connect", .users, .enabled(if: getuid() == 0, "needs two users"))
  func otherUser() async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    var facts = stat()
    stat(path, &facts)
    #expect(facts.st_mode & 0o777 == 0o600)
    await #expect(processExitsWith: .success) { [path = path as String] in
      let own = try UnixSocketTransport(connectedTo: path)
      own.close()
      guard setgid(65534) == 0, setuid(65534) == 0 else { exit(2) }
      do {
        _ = try UnixSocketTransport(connectedTo: path)
        exit(3)
      } catch TransportError.unreachable(let why) where why.hasSuffix("Permission denied") {
        exit(0)
      }
    }
    server.close()
  }

  @Test(
    "a client does not connect to a path that another user has taken", .users,
    .enabled(if: getuid() == 0, "needs two users"))
  func otherUsersPath() async throws {
    await #expect(processExitsWith: .success) { [path = path as String] in
      // The kernel reports the user of the listening process at the time of listening.
      guard seteuid(65534) == 0 else { exit(2) }
      let server = try UnixSocketTransport(listeningAt: path)
      guard seteuid(0) == 0 else { exit(3) }
      defer { server.close() }
      do {
        _ = try UnixSocketTransport(connectedTo: path)
        exit(4)
      } catch TransportError.unreachable(let why) where why.hasSuffix("another user listens there")
      {
        exit(0)
      }
    }
    unlink(path)
  }

  @Test("frequent signals interrupt no call")
  func signals() async {
    await #expect(processExitsWith: .success) { [name = name as String, path = path as String] in
      let server = try UnixSocketTransport(listeningAt: path)
      let host = RemoteHost(server, as: name)
      let tally = Tally()
      try host.expose(tally, Tally.interface())
      var action = sigaction()
      // Without `SA_RESTART`, so that system calls are interrupted.
      action.__sigaction_handler.sa_handler = { _ in }
      sigaction(SIGALRM, &action, nil)
      ualarm(100, 100)
      let here = try UnixSocketTransport(connectedTo: path)
      let remote = RemoteProxy(try Tally.interface(), here, at: name, deadline: .seconds(100))
      let endings = Endings()
      await endings.send(0..<3000, to: remote, atATime: 10)
      guard endings.answered.count == 3000, tally.count == 3000, tally.twice == 0 else { exit(2) }
      host.close()
      exit(0)
    }
  }

  @Test("a message that the kernel cannot send as a whole is too large, and the next one is sent")
  func messageSize() throws {
    var ends: [Int32] = [0, 0]
    #expect(
      socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
    let descriptor = SocketDescriptor(number: ends[0])
    descriptor.setRoom(8192)
    let connection = SocketConnection(descriptor)
    let error = #expect(throws: TransportError.self) {
      try connection.send([UInt8](repeating: 0, count: 100_000))
    }
    #expect(error == .failed("the system cannot send 100000 bytes at once"))
    try connection.send([1, 2, 3])
    var bytes = [UInt8](repeating: 0, count: 10)
    #expect(recv(ends[1], &bytes, 10, 0) == 3)
    connection.end()
    close(ends[1])
  }

  @Test("a message that has to wait is sent, however often messages had to wait before")
  func waitsAgain() throws {
    var ends: [Int32] = [0, 0]
    #expect(
      socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
    let connection = SocketConnection(SocketDescriptor(number: ends[0]))
    var message = [UInt8](repeating: 0, count: 1000)
    // A missing message fails the test instead of blocking it forever.
    // The seconds and microseconds of a `timeval`, whose module an optimized build does not find.
    var limit = [60, 0]
    setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    for round: UInt8 in 1...4 {
      message[0] = round
      for _ in 0..<2000 { try connection.send(message) }
      #expect(connection.waiting > 0)
      for _ in 0..<2000 {
        try #require(recv(ends[1], &message, message.count, 0) == message.count)
        #expect(message[0] == round)
      }
      while connection.waiting > 0 { usleep(100) }
    }
    connection.end()
    close(ends[1])
  }

  @Test("a limited number of bytes waits for a peer that does not read, and none once it has ended")
  func congested() throws {
    var ends: [Int32] = [0, 0]
    #expect(
      socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
    let connection = SocketConnection(SocketDescriptor(number: ends[0]))
    let message = [UInt8](repeating: 0, count: 1000)
    #expect(throws: TransportError.congested) {
      while true { try connection.send(message) }
    }
    let most = SocketConnection.mostWaiting
    #expect((most - 1064...most).contains(connection.waiting))
    connection.end()
    #expect(throws: TransportError.interrupted) { try connection.send(message) }
    close(ends[1])
  }

  @Test("one of many processes gets the path of a dead one, and another file at the path stays")
  func listeners() async throws {
    for _ in 0..<400 {
      // A socket file without a listener.
      let dead = try SocketDescriptor.make()
      try dead.listen(at: path)
      dead.close()
      // A process that another test is starting also has the descriptor until it calls `exec`.
      while PacketSocket(path) != nil { usleep(100) }
      let servers: [UnixSocketTransport] = await withTaskGroup(of: UnixSocketTransport?.self) {
        [path] tasks in
        for _ in 0..<8 { tasks.addTask { try? UnixSocketTransport(listeningAt: path) } }
        return await tasks.reduce(into: []) { if let server = $1 { $0.append(server) } }
      }
      #expect(servers.count == 1)
      let client = try UnixSocketTransport(connectedTo: path)
      client.close()
      for server in servers { server.close() }
    }
    try "a text".write(toFile: path, atomically: true, encoding: .utf8)
    #expect(throws: TransportError.self) { try UnixSocketTransport(listeningAt: path) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "a text")
    unlink(path)
  }

  @Test("the socket file of a listener with a full queue of connections stays")
  func fullBacklog() throws {
    let busy = try SocketDescriptor.make()
    try busy.listen(at: path)
    var before = stat()
    #expect(lstat(path, &before) == 0)
    var waiting: [SocketDescriptor] = []
    while waiting.count < 5000 {
      let descriptor = try SocketDescriptor.make()
      waiting.append(descriptor)
      guard (try? descriptor.connect(to: path)) == true else { break }
    }
    #expect(waiting.count < 5000)
    #expect(throws: TransportError.self) { try UnixSocketTransport(listeningAt: path) }
    #expect(throws: TransportError.self) { try UnixSocketTransport(connectedTo: path) }
    var after = stat()
    #expect(lstat(path, &after) == 0 && after.st_ino == before.st_ino)
    for descriptor in waiting { descriptor.close() }
    busy.close()
    unlink(path)
  }

  @Test("a path has one listener, even if its file was removed")
  func fileOfAnother() throws {
    let first = try UnixSocketTransport(listeningAt: path)
    unlink(path)
    #expect(throws: TransportError.unreachable("\(path): a process listens there already")) {
      try UnixSocketTransport(listeningAt: path)
    }
    first.close()
    let second = try UnixSocketTransport(listeningAt: path)
    first.close()
    #expect(access(path, F_OK) == 0)
    second.close()
    #expect(access(path, F_OK) != 0 && access(path + ".lock", F_OK) != 0)
  }

  @Test("a peer that sends malformed frames is disconnected, and other peers are served")
  func frames() async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    let host = RemoteHost(server, as: name)
    try host.expose(Tally(), Tally.interface())
    let here = try UnixSocketTransport(connectedTo: path)
    let remote = RemoteProxy(try Tally.interface(), here, at: name, deadline: .seconds(3000))
    let zeros = [UInt8](repeating: 0, count: 8)
    let hostile: [[UInt8]] = [
      [1], [0x12], [0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0x13, 0, 0], [0, 0, 0, 0] + zeros,
      [0x15, 0, 0, 0] + zeros, [0x10, 0, 0, 0] + zeros,
      // Of version 1: told, too short, and a byte that should be zero.
      [1, 0, 1, 0] + zeros + [UInt8(ascii: "x")], [2, 0, 0, 0], [2, 1, 0, 0] + zeros,
      [0x12, 0, 0, 0] + [UInt8](repeating: 0, count: 170_000),
    ]
    for (number, bytes) in hostile.enumerated() {
      let peer = try #require(PacketSocket(path))
      #expect(peer.send(bytes))
      #expect(peer.receive() == nil)
      #expect(try await Tally.take(number, on: remote) == number)
    }
    // Answers to unknown requests are ignored.
    let liar = try #require(PacketSocket(path))
    for kind: UInt8 in [0x13, 0x14] { #expect(liar.send([kind, 1, 0, 0])) }
    #expect(liar.send([0x12, 7, 0, 0] + zeros))
    #expect(liar.receive() == [0x14, 7, 0, 0])
    host.close()
    here.close()
    server.close()
  }
}
