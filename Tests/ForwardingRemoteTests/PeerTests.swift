// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Forwarding
import ForwardingRemote
import ForwardingWire
import RemoteTestSupport
import Synchronization
import Testing

/// A transport whose messages come from the peers that a test names.
private final class StagedTransport: Transport {
  private let listeners = LockedValue<[RemoteSubject: [@Sendable (TransportMessage) -> Void]]>([:])
  let maximumPayload = 1 << 20

  private final class Nothing: TransportSubscription { func end() {} }

  func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError) {}
  func request(
    _ payload: [UInt8], to subject: RemoteSubject,
    _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
  ) throws(TransportError) -> any TransportSubscription { throw .closed }
  func subscribe(
    to subject: RemoteSubject, group: String?,
    _ receive: @escaping @Sendable (TransportMessage) -> Void
  ) throws(TransportError) -> any TransportSubscription {
    listeners.withLock { $0[subject, default: []].append(receive) }
    return Nothing()
  }
  func flush(within limit: Duration) async throws(TransportError) {}
  func onChange(
    _ changed: @escaping @Sendable (TransportState) -> Void
  ) -> any TransportSubscription { Nothing() }
  func close() { listeners.withLock { $0 = [:] } }

  /// Delivers a message as if from a peer, and passes its answers to a closure.
  func receive(
    _ payload: [UInt8], at subject: RemoteSubject, from peer: TransportPeer,
    _ answered: @escaping @Sendable (Envelope.Answer) -> Void = { _ in }
  ) {
    for listener in listeners.withLock({ $0[subject] ?? [] }) {
      listener(
        TransportMessage(payload: payload, sender: peer) { answered(Envelope.Answer($0)) })
    }
  }
}

@Suite("Peers, as the transport knows them", .timeLimit(.minutes(60)))
struct PeerTests {
  private static let subject: RemoteSubject = "forwarding.bank.bank"
  private static let peers: [TransportPeer] = [
    .process(id: 1, user: 0, group: 0), .process(id: 2, user: 0, group: 0),
    .process(id: 1, user: 1, group: 0), .process(id: 1, user: 0, group: 1), .thisProcess, .network,
  ]

  private func vault(_ transport: any Transport) throws -> (Vault, RemoteHost) {
    let host = RemoteHost(transport, as: "bank")
    let vault = Vault()
    try host.expose(vault, Vault.interface())
    return (vault, host)
  }

  @Test("a call is cancelled only by its own peer, with its own number")
  func cancelled() async throws {
    let transport = StagedTransport()
    let (vault, host) = try vault(transport)
    let call = try Vault.interface().encodeSent(Vault.sleep.message.invocation(600_000))
    transport.receive(
      Envelope.request(Envelope.asked, number: 1, call), at: Self.subject, from: Self.peers[0])
    #expect(host.statistics.asked == 1)
    let subject = Envelope.cancels(of: Self.subject)
    func cancel(_ number: UInt64, from peer: TransportPeer) {
      transport.receive(Envelope.request(Envelope.cancel, number: number), at: subject, from: peer)
    }
    for peer in Self.peers.dropFirst() { cancel(1, from: peer) }
    cancel(2, from: Self.peers[0])
    // A call that was cancelled and one that was not both end quickly.
    let second = try Vault.interface().encodeSent(Vault.sleep.message.invocation(50))
    let isOver = Atomic(false)
    transport.receive(
      Envelope.request(Envelope.asked, number: 3, second), at: Self.subject, from: Self.peers[0]
    ) { _ in isOver.store(true, ordering: .releasing) }
    while !isOver.load(ordering: .acquiring) { try await Task.sleep(for: .milliseconds(1)) }
    #expect(vault.cancellations.load(ordering: .relaxed) == 0)
    cancel(1, from: Self.peers[0])
    while vault.cancellations.load(ordering: .relaxed) == 0 {
      try await Task.sleep(for: .milliseconds(1))
    }
    host.close()
  }

  @Test("`authorize` gets the peer that the transport names")
  func authorized() throws {
    let transport = StagedTransport()
    let (vault, host) = try vault(transport)
    let call = try Vault.interface().encodeSent(Vault.deposit.message.invocation(1))
    host.authorize = { $0.peer == Self.peers[1] }
    let refusals = LockedValue<[RemoteRefusal?]>([])
    for peer in Self.peers {
      transport.receive(
        Envelope.request(Envelope.asked, number: 1, call), at: Self.subject, from: peer
      ) { answer in refusals.withLock { $0.append(answer.refusal) } }
    }
    #expect(
      refusals.withLock { $0 }
        == [.unauthorized, nil, .unauthorized, .unauthorized, .unauthorized, .unauthorized])
    #expect(vault.balance == 1)
    host.close()
  }

  @Test("a message without an answer gets none, not even a refusal, if it names a subject for one")
  func told() throws {
    let transport = StagedTransport()
    let (vault, host) = try vault(transport)
    let answers = LockedValue(0)
    let add = try Vault.interface().encodeSent(Vault.add.message.invocation(1))
    func tell(_ call: [UInt8]) {
      transport.receive(
        Envelope.request(Envelope.told, number: 1, call), at: Self.subject, from: .network
      ) { _ in answers.withLock { $0 += 1 } }
    }
    tell(add)
    tell([1, 2, 3])
    host.limit = 0
    tell(add)
    #expect(answers.withLock { $0 } == 0)
    #expect(vault.balance == 1 && host.statistics.told == 2 && host.statistics.refused == 2)
    host.close()
  }
}
