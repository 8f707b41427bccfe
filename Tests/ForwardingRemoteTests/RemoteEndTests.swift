// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import RemoteTestSupport
import Synchronization
import Testing

import Glibc

@Suite("Calls whose callers no longer wait", .timeLimit(.minutes(60)))
struct RemoteEndTests {
  private let name = "bank \(UInt32.random(in: 0 ... .max))"

  private func vault(_ way: Way) throws -> (Vault, RemoteHost, RemoteProxy) {
    let (there, here) = try way.ends()
    let host = RemoteHost(there, as: name)
    let vault = Vault()
    try host.expose(vault, Vault.interface())
    return (
      vault, host,
      RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
    )
  }

  @Test("a cancelled task sends no call", arguments: Way.allCases)
  func cancelledBefore(way: Way) async throws {
    let (there, here) = try way.ends()
    let host = RemoteHost(there, as: name)
    defer { host.close() }
    let vault = Vault()
    try host.expose(vault, Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
    #expect(try await Vault.deposit(1, on: remote) == 1)
    let call = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await Vault.deposit(1, on: remote)
    }
    await #expect(throws: RemoteError.cancelled) { try await call.value }
    #expect(try await Vault.deposit(1, on: remote) == 2)
    #expect(remote.statistics == RemoteStatistics(asked: 3, answered: 2, failed: 1))
  }

  @Test("an answer that arrives while the call is being sent, but after its deadline, is too late")
  func late() async throws {
    let (vault, host, remote) = try vault(.inProcess)
    defer { host.close() }
    // Long enough for the call to begin in time.
    remote.deadline = .seconds(10)
    vault.look = {
      usleep(10_100_000)
      return true
    }
    await #expect(throws: RemoteError.timedOut) { try await Vault.deposit(7, on: remote) }
    #expect(vault.balance == 7 && host.statistics.answered == 1)
    #expect(remote.statistics.failed == 1)
  }

  @Test(
    "a host that is closed, or released, releases its targets", arguments: Way.allCases,
    [true, false])
  func letGo(way: Way, isClosed: Bool) async throws {
    let (there, here) = try way.ends()
    weak var seen: Vault?
    var host: RemoteHost? = RemoteHost(there, as: name)
    do {
      let vault = Vault()
      seen = vault
      try host?.expose(vault, Vault.interface())
      let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
      #expect(try await Vault.deposit(5, on: remote) == 5)
    }
    #expect(seen != nil)
    if isClosed { host?.close() } else { host = nil }
    // Threads of the transport may still retain the call.
    for _ in 0..<60_000 where seen != nil { try await Task.sleep(for: .milliseconds(1)) }
    #expect(seen == nil)
    withExtendedLifetime(host) {}
  }

  @Test(
    "closing ends calls in flight, reports that once, and fails later calls at once",
    arguments: Way.allCases)
  func closed(way: Way) async throws {
    let (there, here) = try way.ends()
    let host = RemoteHost(there, as: name)
    defer { host.close() }
    let vault = Vault()
    vault.isOpen.store(false, ordering: .relaxed)
    defer { vault.isOpen.store(true, ordering: .relaxed) }
    try host.expose(vault, Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
    let invalidations = Atomic(0)
    let interruptions = Atomic(0)
    let watch = here.onChange {
      if $0 == .closed { invalidations.add(1, ordering: .relaxed) }
      if $0 == .interrupted { interruptions.add(1, ordering: .relaxed) }
    }
    defer { watch.end() }
    let holding = (0..<3).map { _ in Task { try await Vault.hold(on: remote) } }
    while host.statistics.asked < 3 { try await Task.sleep(for: .milliseconds(1)) }
    here.close()
    for call in holding { await #expect(throws: RemoteError.closed) { try await call.value } }
    await #expect(throws: RemoteError.closed) { try await Vault.deposit(1, on: remote) }
    #expect(throws: RemoteError.closed) { try Vault.add.message(1, on: remote) }
    while invalidations.load(ordering: .relaxed) == 0 {
      try await Task.sleep(for: .milliseconds(1))
    }
    here.close()
    let (closed, interrupted) = (
      invalidations.load(ordering: .relaxed), interruptions.load(ordering: .relaxed)
    )
    #expect(closed == 1 && interrupted == 0)
    #expect(vault.balance == 0)
  }
}
