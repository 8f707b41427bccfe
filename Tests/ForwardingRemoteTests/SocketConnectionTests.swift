// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingTestSupport
import Foundation
import RemoteTestSupport
import Testing

@testable import ForwardingRemote

import Glibc

/// What no transport shows: a connection with a send buffer of any size, and a system that fails.
@Suite("One connection of a socket", .timeLimit(.minutes(60)))
struct SocketConnectionTests {
  private let path = socketPath()

  /// A connection, and the descriptor of its other end.
  private static func pair(room: Int? = nil) -> (SocketConnection, Int32) {
    var ends: [Int32] = [0, 0]
    let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
    require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
    // A missing message fails the test instead of blocking it forever.
    // The seconds and microseconds of a `timeval`, whose module an optimized build does not find.
    var limit = [60, 0]
    setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let descriptor = SocketDescriptor(number: ends[0])
    if let room { descriptor.setRoom(room) }
    return (SocketConnection(descriptor), ends[1])
  }

  /// The next message of a descriptor.
  private static func receive(_ other: Int32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 2000)
    let count = recv(other, &bytes, bytes.count, 0)
    return Array(bytes.prefix(max(0, count)))
  }

  @Test("a message that the kernel cannot send as a whole is too large, and the next one is sent")
  func messageSize() throws {
    let (connection, other) = Self.pair(room: 8192)
    #expect(throws: TransportError.failed("the system cannot send 100000 bytes at once")) {
      try connection.send([UInt8](repeating: 0, count: 100_000))
    }
    try connection.send([1, 2, 3])
    #expect(Self.receive(other) == [1, 2, 3])
    connection.end()
    close(other)
  }

  @Test("a message that has to wait is sent, however often messages had to wait before")
  func waitsAgain() throws {
    let (connection, other) = Self.pair()
    for round: UInt8 in 1...4 {
      let message = [UInt8](repeating: round, count: 1000)
      for _ in 0..<2000 { try connection.send(message) }
      #expect(connection.waiting > 0)
      for _ in 0..<2000 { try #require(Self.receive(other) == message) }
      while connection.waiting > 0 { usleep(100) }
    }
    connection.end()
    close(other)
  }

  @Test("a limited number of bytes waits for a peer that does not read, and none once it has ended")
  func congested() throws {
    let (connection, other) = Self.pair()
    let message = [UInt8](repeating: 0, count: 1000)
    #expect(throws: TransportError.congested) {
      while true { try connection.send(message) }
    }
    let most = SocketConnection.mostWaiting
    #expect((most - 1064...most).contains(connection.waiting))
    connection.end()
    #expect(throws: TransportError.interrupted) { try connection.send(message) }
    close(other)
  }

  @Test(
    "connections that end in any way, from many threads at once, leave no descriptor and no thread")
  func ends() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      await Task.yield()
      let before = Open()
      for round in 0..<300 {
        let (connection, other) = Self.pair()
        let told = LockedValue(0)
        // Every tenth round, a message ends the connection.
        let hasBegun = connection.begin { connection, bytes in
          try? connection.send(bytes)
          return round % 10 > 0
        } ended: { _ in
          told.withLock { $0 += 1 }
        }
        require(hasBegun)
        let bytes = [UInt8](repeating: 1, count: 20_000)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
          for _ in 0..<10 { try? connection.send(bytes) }
          switch (thread + round) % 4 {
          case 0, 1: connection.end()
          case 2: _ = shutdown(other, Int32(SHUT_RDWR))
          default: break
          }
        }
        close(other)
        require(told.withLock { $0 } <= 1)
      }
      // Only the listener retains the transport, and releases it on the reading thread.
      for _ in 0..<100 {
        let server = LockedValue<UnixSocketTransport?>(try UnixSocketTransport(listeningAt: path))
        let peer = PacketSocket(path)
        _ = try server.withLock { $0 }?.subscribe(to: "last", group: nil) { _ in
          let last = server.withLock { server in
            defer { server = nil }
            return server
          }
          last?.close()
        }
        require(peer?.send(SocketFrame(.told, 0, "last", []).bytes) == true)
        require(peer?.receive() == nil)
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

  @Test("listening goes on after an error of the system that no one expects")
  func accepting() async throws {
    let listening = try SocketListening(at: path)
    let door = listening.descriptor
    // The number is that of a file for a moment, which accepts nothing.
    let kept = dup(door.number)
    let file = open("/dev/null", O_RDONLY)
    dup2(file, door.number)
    let connections = LockedValue(0)
    #expect(
      listening.begin { new in
        connections.withLock { $0 += 1 }
        new.close()
      })
    try await Task.sleep(for: .milliseconds(100))
    dup2(kept, door.number)
    close(kept)
    close(file)
    let peer = PacketSocket(path)
    try await eventually { connections.withLock { $0 } == 1 }
    withExtendedLifetime(peer) { listening.end() }
  }

  // MARK: A system without memory for messages

  /// A `send` that finds no memory for half a second, and counts its calls.
  private static let source = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <stdatomic.h>
    #include <stdio.h>
    #include <sys/socket.h>
    #include <time.h>

    static _Atomic long calls;
    static _Atomic long long first;

    static long long now(void) {
      struct timespec time;
      clock_gettime(CLOCK_MONOTONIC, &time);
      return time.tv_sec * 1000000000LL + time.tv_nsec;
    }

    ssize_t send(int number, const void *bytes, size_t count, int flags) {
      ssize_t (*next)(int, const void *, size_t, int) = dlsym(RTLD_NEXT, "send");
      long long none = 0;
      atomic_compare_exchange_strong(&first, &none, now());
      calls++;
      if (now() < first + 500000000) {
        errno = calls % 2 ? ENOBUFS : ENOMEM;
        return -1;
      }
      return next(number, bytes, count, flags);
    }

    __attribute__((destructor)) static void end(void) { fprintf(stderr, "%ld sends\\n", calls); }
    """

  @Test("a message waits until the system has memory, without using a whole core")
  func waits() async throws {
    // Not on a thread of tasks, as other tests need those.
    let finished = try await withCheckedThrowingContinuation { continuation in
      beginThread { continuation.resume(with: Result { try Self.sent() }) }
    }
    #expect(finished.status == 0, "\(finished.output)")
    let line = finished.errors.split(separator: "\n").last { $0.hasSuffix(" sends") }
    let count = try #require(line.flatMap { Int($0.dropLast(6)) })
    #expect(count >= 3 && count < 200, "\(count)")
  }

  private static func sent() throws -> Finished {
    let library = try CCompiler.system().library(source)
    defer { try? FileManager.default.removeItem(atPath: library) }
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    return try run(
      program, ["--testing-library", "swift-testing", "--filter", "SocketConnectionTests/sends"],
      environment: ["FORWARDING_TEST_SENDS": "1", "LD_PRELOAD": library])
  }

  @Test(
    "the process of that test sends a message",
    .enabled(
      if: ProcessInfo.processInfo.environment["FORWARDING_TEST_SENDS"] != nil, "another starts it"))
  func sends() throws {
    let (connection, other) = Self.pair()
    for byte: UInt8 in 1...3 { try connection.send([byte]) }
    for byte: UInt8 in 1...3 { #expect(Self.receive(other) == [byte]) }
    connection.end()
    close(other)
  }
}
