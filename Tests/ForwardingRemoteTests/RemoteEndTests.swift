// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import Invocations
import RemoteTestSupport
import Testing

import Glibc

@Suite("The end of calls, hosts and transports", .timeLimit(.minutes(60)))
struct RemoteEndTests {
  @Test(
    "a host that is closed, or released, releases its targets", arguments: Way.allCases,
    [true, false])
  func letGo(way: Way, isClosed: Bool) async throws {
    let bank = try Bank(way)
    weak var seen: Vault?
    var host: RemoteHost? = RemoteHost(bank.there, as: bank.name + "!")
    do {
      let vault = Vault()
      seen = vault
      try host?.expose(vault, Vault.interface())
      #expect(try await Vault.deposit(5, on: bank.proxy(at: bank.name + "!")) == 5)
    }
    #expect(seen != nil)
    if isClosed { host?.close() } else { host = nil }
    // Threads of the transport may still retain the call.
    try await eventually { seen == nil }
    withExtendedLifetime(host) {}
  }

  @Test(
    "closing ends calls in flight, reports that once, and fails later calls at once",
    arguments: Way.allCases)
  func closed(way: Way) async throws {
    let bank = try Bank(way)
    let (here, remote) = (bank.here, bank.remote)
    let states = Guarded<[TransportState]>([])
    let watch = here.onChange { state in states.withLock { $0.append(state) } }
    defer { watch.end() }
    let holding = try await bank.begin(3)
    here.close()
    for call in holding { await #expect(throws: RemoteError.closed) { try await call.value } }
    await #expect(throws: RemoteError.closed) { try await Vault.deposit(1, on: remote) }
    #expect(throws: RemoteError.closed) { try Vault.add.message(1, on: remote) }
    try await eventually { states.read { !$0.isEmpty } }
    here.close()
    #expect(states.read { $0 } == [.closed])
    #expect(bank.vault.balance == 0)
    bank.vault.isOpen = true
  }

  @Test("no timer remains of calls that have ended, in whatever way")
  func timers() async {
    await #expect(processExitsWith: .success) {
      // Ends a process that waits forever.
      alarm(300)
      enum Ending: CaseIterable { case returned, cancelled, interrupted, closed }
      for ending in Ending.allCases {
        let bank = try Bank(.socket)
        if ending == .returned {
          for _ in 0..<100 {
            _ = try await Vault.deposit(1, on: bank.remote)
            do { try await Vault.fail(1, on: bank.remote) } catch RemoteError.failed {}
            bank.host.limit = 0
            do { try await Vault.sleep(0, on: bank.remote) } catch RemoteError.refused {}
            bank.host.limit = 1000
            require(await isUnheard { try await Vault.deposit(1, on: bank.proxy(at: "nobody")) })
          }
          continue
        }
        let calls = try await bank.begin(100)
        switch ending {
        case .closed: bank.here.close()
        case .interrupted: bank.there.close()
        default: for call in calls { call.cancel() }
        }
        for call in calls { _ = await call.result }
        try await bank.host.drain(within: .seconds(300))
        bank.here.close()
      }
      try await eventually { Deadlines.shared.count == 0 }
      _exit(0)
    }
  }

  @Test("deadlines, drains and flushes may be as long or as short as durations are")
  func longDurations() async {
    await #expect(processExitsWith: .success) {
      // Longer than the seconds of `components`, than a clock counts, and than nanoseconds count.
      for limit in [
        Duration(attoseconds: .max), .seconds(Int64.max), .seconds(10_000_000_000),
      ] {
        let bank = try Bank(.socket)
        bank.remote.deadline = limit
        require(try await Vault.deposit(1, on: bank.remote) == 1)
        let sums = try await bank.remote.gather(expecting: 1, within: limit) {
          try await Vault.deposit(1, on: $0)
        }
        require(sums.values == [2])
        // All times are over.
        bank.remote.deadline = .zero - limit
        do { try await Vault.sleep(1000, on: bank.remote) } catch {
          require(error as? RemoteError == .timedOut, "\(error)")
        }
        try await bank.here.flush(within: limit)
        try await bank.host.drain(within: limit)
      }
      _exit(0)
    }
  }

  @Test(
    "a call ends at its deadline, and a connection is made again, while the system's queue is busy",
    arguments: [true, false])
  func busyQueue(isSpinning: Bool) async {
    await #expect(processExitsWith: .success) { [isSpinning] in
      alarm(120)
      // Tasks of this priority have threads of another queue.
      let test = Task.detached(priority: .medium) {
        let path = socketPath()
        let there = try UnixSocketTransport(listeningAt: path)
        let bank = try Bank((there, UnixSocketTransport(connectedTo: path)))
        require(try await Vault.deposit(1, on: bank.remote) == 1)
        let never = DispatchSemaphore(value: 0)
        for _ in 0..<512 {
          DispatchQueue.global(qos: .userInitiated).async {
            if !isSpinning { never.wait() }
            while true { sched_yield() }
          }
        }
        usleep(100_000)
        bank.remote.deadline = .seconds(1)
        let begun = ContinuousClock.now
        do {
          try await Vault.sleep(3_600_000, on: bank.remote)
          require(false, "answered")
        } catch { require(error as? RemoteError == .timedOut, "\(error)") }
        require(.now - begun < .seconds(60), "ended after \(.now - begun)")
        there.close()
        let next = try Bank((UnixSocketTransport(listeningAt: path), bank.here), as: bank.name)
        // The next connection may be there before its host.
        try await eventually {
          do { return try await Vault.deposit(1, on: next.remote) == 1 } catch RemoteError
            .unreachable
          { return false }
        }
        _exit(0)
      }
      try await test.value
    }
  }
}
