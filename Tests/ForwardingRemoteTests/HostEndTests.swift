// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import Invocations
import RemoteTestSupport
import Synchronization
import Testing

@Suite("The end of a host", .timeLimit(.minutes(10)))
struct HostEndTests {
  private let name = "bank \(UInt32.random(in: 0 ... .max))"

  @Test("a host that cannot drain in time is closed nevertheless", arguments: Way.allCases)
  func late(way: Way) async throws {
    let (there, here) = try way.ends()
    let host = RemoteHost(there, as: name)
    let vault = Vault()
    try host.expose(vault, Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(300))
    vault.isOpen.store(false, ordering: .relaxed)
    let call = Task { try await Vault.hold(on: remote) }
    while host.statistics.asked == 0 { try await Task.sleep(for: .milliseconds(1)) }
    await #expect(throws: TransportError.timedOut) {
      try await host.drain(within: .milliseconds(50))
    }
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

  @Test("a host is closed when the task that waits for it to drain is cancelled")
  func cancelled() async throws {
    let transport = InProcessTransport()
    let host = RemoteHost(transport, as: name)
    let vault = Vault()
    try host.expose(vault, Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), transport, at: name, deadline: .seconds(300))
    vault.isOpen.store(false, ordering: .relaxed)
    let call = Task { try await Vault.hold(on: remote) }
    while host.statistics.asked == 0 { try await Task.sleep(for: .milliseconds(1)) }
    let drain = Task { try await host.drain(within: .seconds(300)) }
    drain.cancel()
    await #expect(throws: TransportError.timedOut) { try await drain.value }
    #expect(
      await isUnheard {
        try await Vault.deposit(1, on: remote)
      })
    vault.isOpen.store(true, ordering: .relaxed)
    try await call.value
  }

  @Test("a draining host refuses a ping at once, and does not count as there")
  func ping() async throws {
    let transport = InProcessTransport()
    let host = RemoteHost(transport, as: name)
    let vault = Vault()
    try host.expose(vault, Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), transport, at: name, deadline: .seconds(300))
    #expect(try await remote.ping() == 1)
    vault.isOpen.store(false, ordering: .relaxed)
    let call = Task { try await Vault.hold(on: remote) }
    while host.statistics.asked == 0 { try await Task.sleep(for: .milliseconds(1)) }
    let drain = Task.immediate { try await host.drain(within: .seconds(300)) }
    #expect(try await remote.ping() == 0)
    vault.isOpen.store(true, ordering: .relaxed)
    try await call.value
    try await drain.value
  }

  @Test("an object that is exposed while its host closes is not exposed")
  func meanwhile() async throws {
    let transport = MeanwhileTransport()
    let host = RemoteHost(transport, as: name)
    transport.meanwhile.withLock { $0 = { host.close() } }
    #expect(throws: TransportError.closed) { try host.expose(Vault(), Vault.interface()) }
    #expect(transport.listeners.read { $0 } == 0)
    // The transport may be used again.
    transport.meanwhile.withLock { $0 = {} }
    try host.expose(Vault(), Vault.interface())
    #expect(transport.listeners.read { $0 } == 2)
    host.close()
    #expect(transport.listeners.read { $0 } == 0)
  }
}

/// A transport in this process that runs a closure while a subscription is made.
private final class MeanwhileTransport: Transport {
  let meanwhile = Guarded<@Sendable () -> Void>({})
  let listeners = Guarded(0)
  private let inner = InProcessTransport()

  private final class Listener: TransportSubscription {
    let inner: any TransportSubscription
    let listeners: Guarded<Int>

    init(_ inner: any TransportSubscription, _ listeners: Guarded<Int>) {
      (self.inner, self.listeners) = (inner, listeners)
      listeners.withLock { $0 += 1 }
    }

    func end() {
      listeners.withLock { $0 -= 1 }
      inner.end()
    }
  }

  var maximumPayload: Int { inner.maximumPayload }

  func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError) {
    try inner.publish(payload, to: subject)
  }

  func request(
    _ payload: [UInt8], to subject: RemoteSubject,
    _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
  ) throws(TransportError) -> any TransportRequest {
    try inner.request(payload, to: subject, answered)
  }

  func subscribe(
    to subject: RemoteSubject, group: String?,
    _ receive: @escaping @Sendable (TransportMessage) -> Void
  ) throws(TransportError) -> any TransportSubscription {
    let listener = Listener(try inner.subscribe(to: subject, group: group, receive), listeners)
    meanwhile.read { $0 }()
    return listener
  }

  func flush(within limit: Duration) async throws(TransportError) {}

  func onChange(
    _ changed: @escaping @Sendable (TransportState) -> Void
  ) -> any TransportSubscription { inner.onChange(changed) }

  func close() { inner.close() }
}
