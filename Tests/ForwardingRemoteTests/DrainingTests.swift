// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Forwarding
import ForwardingRemote
import ForwardingWire
import RemoteTestSupport
import Synchronization
import Testing

@Suite("Hosts that drain while calls begin", .timeLimit(.minutes(60)))
struct DrainingTests {
  /// State that tasks share.
  private final class Notes: Sendable {
    let answered = Atomic(0)
    let late = Atomic(0)
    let isDrained = Atomic(false)
    let drains = LockedValue<[Task<Void, any Error>]>([])
    let strange = LockedValue<[RemoteError]>([])
  }

  private let name = "bank \(UInt32.random(in: 0 ... .max))"

  @Test("a host that drains waits for a call that is being decoded", arguments: Way.allCases)
  func beginning(way: Way) async throws {
    let (there, here) = try way.ends()
    let host = RemoteHost(there, as: name)
    let vault = Vault()
    vault.isOpen.store(false, ordering: .relaxed)
    try host.expose(vault, Vault.interface())
    let notes = Notes()
    // `authorize` is called while the call is decoded. The host begins to drain before it returns.
    host.authorize = { [weak host] _ in
      let drain = Task.immediate {
        try await host?.drain(within: .seconds(3000))
        notes.isDrained.store(true, ordering: .releasing)
      }
      notes.drains.withLock { $0.append(drain) }
      return true
    }
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
    async let holding: Void = Vault.hold(on: remote)
    while host.statistics.asked < 1 { try await Task.sleep(for: .milliseconds(1)) }
    await #expect(throws: RemoteError.refused(.draining, "")) {
      try await Vault.deposit(1, on: remote)
    }
    let wasDrained = notes.isDrained.load(ordering: .acquiring)
    #expect(!wasDrained)
    vault.isOpen.store(true, ordering: .relaxed)
    try await holding
    let all = notes.drains.withLock { $0 }
    #expect(all.count == 1)
    for drain in all { try await drain.value }
    #expect(
      await isUnheard {
        try await Vault.deposit(1, on: remote)
      })
  }

  @Test(
    "a host that cannot drain in time, or whose drain is cancelled, is closed nevertheless",
    arguments: Way.allCases, [true, false])
  func late(way: Way, isCancelled: Bool) async throws {
    let (there, here) = try way.ends()
    let host = RemoteHost(there, as: name)
    let vault = Vault()
    try host.expose(vault, Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
    vault.isOpen.store(false, ordering: .relaxed)
    let call = Task { try await Vault.hold(on: remote) }
    while host.statistics.asked == 0 { try await Task.sleep(for: .milliseconds(1)) }
    let limit = isCancelled ? Duration.seconds(3000) : .milliseconds(50)
    let drain = Task { try await host.drain(within: limit) }
    if isCancelled { drain.cancel() }
    await #expect(throws: TransportError.timedOut) { try await drain.value }
    // Over a server, calls in transit notice the end a little later.
    while true {
      let error = await #expect(throws: RemoteError.self) { try await Vault.deposit(1, on: remote) }
      if error?.isUnheard == true { break }
      #expect(error == .refused(.draining, ""))
      // In one process, a call does not suspend.
      await Task.yield()
    }
    // The calls that it had begun are answered.
    vault.isOpen.store(true, ordering: .relaxed)
    try await call.value
  }

  @Test("an object that is exposed while its host closes, or later, is not exposed")
  func meanwhile() async throws {
    let transport = InProcessTransport()
    let subjects = [
      RemoteSubject(parts: "forwarding", name, "bank"),
      RemoteSubject(parts: "forwarding", name, "bank", "cancel"),
    ]
    for _ in 0..<300 {
      let host = RemoteHost(transport, as: name)
      let exposing = Task.detached { try host.expose(Vault(), Vault.interface()) }
      await Task.yield()
      host.close()
      if case .failure(let error) = await exposing.result {
        #expect(error as? TransportError == .closed)
      }
      for subject in subjects {
        let errors = LockedValue<[TransportError]>([])
        let request = try transport.request([], to: subject) {
          if case .failure(let error) = $0 { errors.withLock { $0.append(error) } }
        }
        request.end()
        #expect(errors.withLock { $0 } == [.nobodyListens])
      }
      #expect(throws: TransportError.closed) { try host.expose(Vault(), Vault.interface()) }
    }
  }

  @Test(
    "no call is performed after a host has drained, even if callers go on sending",
    arguments: Way.allCases)
  func crowd(way: Way) async throws {
    let (there, here) = try way.ends()
    let host = RemoteHost(there, as: name)
    let vault = Vault()
    try host.expose(vault, Vault.interface())
    let interface = try Vault.interface()
    let notes = Notes()
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for _ in 0..<4 {
        // Over NATS, a call that arrives while a host ends may be lost.
        let remote = RemoteProxy(interface, here, at: name, deadline: .seconds(3))
        tasks.addTask {
          while true {
            do {
              _ = try await Vault.deposit(1, on: remote)
              notes.answered.add(1, ordering: .relaxed)
              // In one process, a call does not suspend.
              await Task.yield()
            } catch RemoteError.refused(.draining, _) {
              await Task.yield()
            } catch RemoteError.timedOut {
              notes.late.add(1, ordering: .relaxed)
            } catch RemoteError.unreachable {
              return
            } catch let error as RemoteError {
              return notes.strange.withLock { $0.append(error) }
            }
          }
        }
      }
      while notes.answered.load(ordering: .relaxed) < 20 {
        try await Task.sleep(for: .milliseconds(1))
      }
      try await host.drain(within: .seconds(3000))
      let balance = vault.balance
      try await tasks.waitForAll()
      let (count, late) = (
        notes.answered.load(ordering: .relaxed), notes.late.load(ordering: .relaxed)
      )
      #expect(vault.balance == balance)
      #expect((count...count + late).contains(Int(balance)))
    }
    #expect(notes.strange.withLock { $0 } == [])
  }
}
