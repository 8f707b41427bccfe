// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import RemoteTestSupport
import Testing

@Suite("Hosts that drain while calls begin", .timeLimit(.minutes(60)))
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
    async let holding: Void = Vault.hold(on: bank.remote)
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
