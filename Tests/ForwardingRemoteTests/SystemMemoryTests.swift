// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Testing

@testable import ForwardingRemote

import Glibc

@Suite("A system without memory for messages", .timeLimit(.minutes(60)))
struct SystemMemoryTests {
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
      Thread.detachNewThread { continuation.resume(with: Result { try Self.sent() }) }
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
      program, ["--testing-library", "swift-testing", "--filter", "SystemMemoryTests/sends"],
      environment: ["FORWARDING_TEST_SENDS": "1", "LD_PRELOAD": library])
  }

  @Test(
    "the process of that test sends a message",
    .enabled(
      if: ProcessInfo.processInfo.environment["FORWARDING_TEST_SENDS"] != nil, "another starts it"))
  func sends() throws {
    var ends: [Int32] = [0, 0]
    #expect(
      socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
    let connection = SocketConnection(SocketDescriptor(number: ends[0]))
    for byte: UInt8 in 1...3 { try connection.send([byte]) }
    for byte: UInt8 in 1...3 {
      var bytes: [UInt8] = [0, 0]
      #expect(recv(ends[1], &bytes, 2, 0) == 1)
      #expect(bytes[0] == byte)
    }
    connection.end()
    close(ends[1])
  }
}
