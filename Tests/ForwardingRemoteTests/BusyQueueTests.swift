// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import RemoteTestSupport
import Testing

import Glibc

@Suite("Remote calls while the queues of the system are busy", .timeLimit(.minutes(60)))
struct BusyQueueTests {
  /// How the threads of the queue for short work are kept.
  enum Work: String, CaseIterable, CustomTestStringConvertible, Codable {
    case blocked, spinning

    var testDescription: String { rawValue }

    func begin() {
      let never = DispatchSemaphore(value: 0)
      for _ in 0..<512 {
        DispatchQueue.global(qos: .userInitiated).async { [self] in
          switch self {
          case .blocked: never.wait()
          case .spinning: while true { sched_yield() }
          }
        }
      }
      usleep(100_000)
    }
  }

  @Test("a call ends at its deadline, and a connection is made again", arguments: Work.allCases)
  func busy(work: Work) async {
    await #expect(processExitsWith: .success) { [work] in
      // Ends a process that waits forever.
      alarm(120)
      // Tasks of this priority have threads of another queue.
      let test = Task.detached(priority: .medium) {
        let path = socketPath()
        let there = try UnixSocketTransport(listeningAt: path)
        let here = try UnixSocketTransport(connectedTo: path)
        let host = RemoteHost(there, as: "bank")
        try host.expose(Vault(), Vault.interface())
        let remote = RemoteProxy(
          try Vault.interface(), here, at: "bank", deadline: .seconds(60))
        require(try await Vault.deposit(1, on: remote) == 1)
        work.begin()
        remote.deadline = .seconds(1)
        let begun = ContinuousClock.now
        do {
          try await Vault.sleep(3_600_000, on: remote)
          require(false, "answered")
        } catch { require(error as? RemoteError == .timedOut, "\(error)") }
        require(.now - begun < .seconds(60), "ended after \(.now - begun)")
        there.close()
        let again = try UnixSocketTransport(listeningAt: path)
        let next = RemoteHost(again, as: "bank")
        try next.expose(Vault(), Vault.interface())
        remote.deadline = .seconds(60)
        // The next connection may be there before its host.
        while true {
          do {
            require(try await Vault.deposit(1, on: remote) == 1)
            _exit(0)
          } catch RemoteError.unreachable {}
        }
      }
      try await test.value
    }
  }
}
