// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import RemoteTestSupport
import Testing

import Glibc

@Suite("Durations that no clock can add", .timeLimit(.minutes(60)))
struct LongDurationTests {
  /// Longer than the seconds of `components`, than a clock counts, and than nanoseconds count.
  private static let all: [Duration] = [
    Duration(attoseconds: .max), .seconds(Int64.max), .seconds(10_000_000_000),
  ]

  @Test("deadlines, drains and flushes may be as long or as short as durations are")
  func calls() async {
    await #expect(processExitsWith: .success) {
      for limit in Self.all {
        let path = socketPath()
        let there = try UnixSocketTransport(listeningAt: path)
        let here = try UnixSocketTransport(connectedTo: path)
        let host = RemoteHost(there, as: "bank")
        try host.expose(Vault(), Vault.interface())
        let remote = RemoteProxy(try Vault.interface(), here, at: "bank", deadline: limit)
        require(try await Vault.deposit(1, on: remote) == 1)
        let sums = try await remote.gather(expecting: 1, within: limit) {
          try await Vault.deposit(1, on: $0)
        }
        require(sums.values == [2])
        // All times are over.
        remote.deadline = .zero - limit
        do { try await Vault.sleep(1000, on: remote) } catch {
          require(error as? RemoteError == .timedOut, "\(error)")
        }
        try await here.flush(within: limit)
        try await host.drain(within: limit)
        here.close()
        there.close()
      }
      _exit(0)
    }
  }
}
