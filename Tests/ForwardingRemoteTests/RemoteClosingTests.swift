// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Forwarding
import ForwardingRemote
import ForwardingWire
import RemoteTestSupport
import Synchronization
import Testing

@Suite("Connections that are closed for good", .timeLimit(.minutes(10)))
struct RemoteClosingTests {
  private let name = "bank \(UInt32.random(in: 0 ... .max))"

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
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(300))
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
