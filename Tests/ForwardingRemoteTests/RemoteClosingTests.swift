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
    "closing ends calls in flight, calls onInvalidation once, and fails later calls at once",
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
    remote.onInvalidation = { invalidations.add(1, ordering: .relaxed) }
    remote.onInterruption = { interruptions.add(1, ordering: .relaxed) }
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

  @Test(
    "closing does not affect a request that has ended or has all its answers",
    arguments: Way.allCases
  )
  func endedBefore(way: Way) async throws {
    let (there, here) = try way.ends()
    let listener = try there.subscribe(to: RemoteSubject(name), group: nil) { message in
      if message.payload == [1] { message.answer?([2]) }
    }
    defer { listener.end() }
    try await there.flush(within: .seconds(300))
    let heard = LockedValue<[Result<[UInt8], TransportError>]>([])
    func ask(_ payload: [UInt8]) throws -> any TransportRequest {
      try here.request(payload, to: RemoteSubject(name)) { answer in
        heard.withLock { $0.append(answer) }
      }
    }
    let answered = try ask([1])
    while heard.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
    answered.end()
    try ask([0]).end()
    here.close()
    #expect(heard.withLock { $0 } == [.success([2])])
  }
}
