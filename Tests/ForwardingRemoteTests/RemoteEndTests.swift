// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import ForwardingWire
import Foundation
import Invocations
import RemoteTestSupport
import Testing

import Glibc

@Suite("The end of calls, hosts and transports")
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
    let (states, watch) = changes(of: here)
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
      let bank = try Bank(.socket)
      for _ in 0..<100 {
        _ = try await Vault.deposit(1, on: bank.remote)
        do { try await Vault.fail(1, on: bank.remote) } catch RemoteError.failed {}
        bank.host.limit = 0
        do { try await Vault.sleep(0, on: bank.remote) } catch RemoteError.refused {}
        bank.host.limit = 1000
        require(await isUnheard { try await Vault.deposit(1, on: bank.proxy(at: "nobody")) })
      }
      enum Ending: CaseIterable { case cancelled, interrupted, closed }
      for ending in Ending.allCases {
        let bank = try Bank(.socket)
        let calls = try await bank.begin(100)
        switch ending {
        case .closed: bank.here.close()
        case .interrupted: bank.there.close()
        case .cancelled: for call in calls { call.cancel() }
        }
        for call in calls { _ = await call.result }
        try await bank.host.drain(within: .seconds(300))
        bank.here.close()
      }
      try await eventually { Deadlines.shared.count == 0 }
      withExtendedLifetime(bank) { _exit(0) }
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

  @Test(
    "a child may close or release its parent's transports, and the parent goes on",
    arguments: Way.outside)
  func forked(way: Way) async {
    await #expect(processExitsWith: .success) { [way] in
      let path = socketPath()
      var bank: Bank? = try Bank(way.ends(at: path))
      require(try await Vault.deposit(1, on: bank!.remote) == 1)
      let child = Child {
        // Over a server, it cannot use them.
        func isClosed(_ body: () throws -> Void) throws {
          guard way == .nats else { return }
          do {
            try body()
            require(false, "a child uses its parent's connection")
          } catch TransportError.closed {} catch RemoteError.closed {}
        }
        try isClosed { try Vault.add.message(1, on: bank!.remote) }
        try isClosed { _ = try bank!.here.request([1], to: "anything") { _ in } }
        try isClosed { try bank!.host.expose(Vault(), Interface("other")) }
        bank!.here.close()
        bank = nil
        // A transport that the child makes works as usual.
        let own = try Bank()
        try Vault.add.message(1, on: own.remote)
        require(own.vault.balance == 1 && own.host.statistics.told == 1)
      }
      require(child.wait() == 0)
      require(way != .socket || FileManager.default.fileExists(atPath: path))
      require(try await Vault.deposit(1, on: bank!.remote) == 2)
      bank!.there.close()
      exit(0)
    }
  }
}

@Suite("Hosts that drain while calls begin")
struct DrainingTests {
  @Test("a host that drains waits for a call that is being decoded", arguments: Way.allCases)
  func beginning(way: Way) async throws {
    let bank = try Bank(way)
    bank.vault.isOpen = false
    let drains = LockedValue<[Task<Void, any Error>]>([])
    let isDrained = LockedValue(false)
    // `authorize` is called while the call is decoded. The host begins to drain before it returns.
    bank.host.authorize = { [weak host = bank.host] _ in
      let drain = Task.immediate {
        try await host?.drain(within: .seconds(3000))
        isDrained.withLock { $0 = true }
      }
      drains.withLock { $0.append(drain) }
      return true
    }
    async let holding: Void = Vault.hold("", on: bank.remote)
    try await eventually { bank.host.statistics.asked == 1 }
    await #expect(throws: RemoteError.refused(.draining, "")) {
      try await Vault.deposit(1, on: bank.remote)
    }
    #expect(!isDrained.withLock { $0 })
    bank.vault.isOpen = true
    try await holding
    let all = drains.withLock { $0 }
    #expect(all.count == 1)
    for drain in all { try await drain.value }
    #expect(await isUnheard { try await Vault.deposit(1, on: bank.remote) })
  }

  @Test(
    "a host that cannot drain in time, or whose drain is cancelled, is closed nevertheless",
    arguments: Way.allCases, [true, false])
  func late(way: Way, isCancelled: Bool) async throws {
    let bank = try Bank(way)
    let calls = try await bank.begin(1)
    let drain = Task { [host = bank.host] in
      try await host.drain(within: isCancelled ? .seconds(3000) : .milliseconds(50))
    }
    if isCancelled { drain.cancel() }
    await #expect(throws: TransportError.timedOut) { try await drain.value }
    // Over a server, calls in transit notice the end a little later.
    try await eventually {
      let error = await #expect(throws: RemoteError.self) {
        try await Vault.deposit(1, on: bank.remote)
      }
      #expect(error == .refused(.draining, "") || error?.isUnheard == true)
      return error?.isUnheard == true
    }
    // The calls that it had begun are answered.
    bank.vault.isOpen = true
    for call in calls { try await call.value }
  }

  @Test("an object that is exposed while its host closes, or later, is not exposed")
  func meanwhile() async throws {
    let transport = InProcessTransport()
    for _ in 0..<300 {
      let host = RemoteHost(transport, as: "bank")
      let exposing = Task.detached { try host.expose(Vault(), Vault.interface()) }
      await Task.yield()
      host.close()
      if case .failure(let error) = await exposing.result {
        #expect(error as? TransportError == .closed)
      }
      for subject in ["forwarding.bank.bank", "forwarding.bank.bank.cancel"] as [RemoteSubject] {
        #expect(try await ask(transport, [], subject) == .failure(.nobodyListens))
      }
      #expect(throws: TransportError.closed) { try host.expose(Vault(), Vault.interface()) }
    }
  }

  @Test(
    "no call is performed after a host has drained, even if callers go on sending",
    arguments: Way.allCases)
  func crowd(way: Way) async throws {
    let bank = try Bank(way)
    let (answered, late) = (LockedValue(0), LockedValue(0))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for _ in 0..<4 {
        let remote = try bank.proxy()
        // Over NATS, a call that arrives while a host ends may be lost.
        remote.deadline = .seconds(3)
        tasks.addTask {
          while true {
            do {
              _ = try await Vault.deposit(1, on: remote)
              answered.withLock { $0 += 1 }
            } catch RemoteError.refused(.draining, _) {
            } catch RemoteError.timedOut {
              late.withLock { $0 += 1 }
            } catch RemoteError.unreachable {
              return
            }
            // In one process, a call does not suspend.
            await Task.yield()
          }
        }
      }
      try await eventually { answered.withLock { $0 } >= 20 }
      try await bank.host.drain(within: .seconds(3000))
      let balance = bank.vault.balance
      try await tasks.waitForAll()
      #expect(bank.vault.balance == balance)
      let (count, lost) = (answered.withLock { $0 }, late.withLock { $0 })
      #expect((count...count + lost).contains(Int(balance)))
    }
  }
}
