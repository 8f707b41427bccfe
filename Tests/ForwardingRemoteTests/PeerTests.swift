// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import Invocations
import RemoteTestSupport
import Testing

@Suite("Peers, as the transport knows them", .timeLimit(.minutes(60)))
struct PeerTests {
  private static let peers: [TransportPeer] = [
    .process(id: 1, user: 0, group: 0), .process(id: 2, user: 0, group: 0),
    .process(id: 1, user: 1, group: 0), .process(id: 1, user: 0, group: 1), .thisProcess, .network,
  ]

  private let transport = StagedTransport()
  private let bank: Bank
  private var vault: Vault { bank.vault }
  private var host: RemoteHost { bank.host }

  init() throws { bank = try Bank((transport, transport)) }

  /// Sends a call or a cancel as a peer. Returns its answers, which may still come.
  @discardableResult
  private func receive(
    _ kind: UInt8, _ number: UInt64, _ call: Invocation? = nil, from peer: TransportPeer
  ) throws -> Guarded<[Envelope.Answer]> {
    let bytes = try call.map { try Vault.interface().encodeSent($0) } ?? []
    return try receive(Envelope.request(kind, number: number, bytes), from: peer)
  }

  @discardableResult
  private func receive(
    _ payload: [UInt8], from peer: TransportPeer
  ) throws -> Guarded<[Envelope.Answer]> {
    let answers = Guarded<[Envelope.Answer]>([])
    transport.peer.withLock { $0 = peer }
    let isCancel = payload[1] == Envelope.cancel
    _ = try transport.inner.request(
      payload, to: isCancel ? Envelope.cancels(of: bank.subject) : bank.subject
    ) { answer in
      if let bytes = try? answer.get() { answers.withLock { $0.append(Envelope.Answer(bytes)) } }
    }
    return answers
  }

  @Test("a call is cancelled only by its own peer, with its own number")
  func cancelled() async throws {
    let peer = Self.peers[0]
    try receive(Envelope.asked, 1, Vault.sleep.message.invocation(600_000), from: peer)
    #expect(host.statistics.asked == 1)
    for other in Self.peers.dropFirst() { try receive(Envelope.cancel, 1, from: other) }
    try receive(Envelope.cancel, 2, from: peer)
    // A call that was cancelled and one that was not both end quickly.
    let second = try receive(Envelope.asked, 3, Vault.sleep.message.invocation(50), from: peer)
    try await eventually { second.read { !$0.isEmpty } }
    #expect(vault.cancellations == 0)
    try receive(Envelope.cancel, 1, from: peer)
    try await eventually { host.statistics.failed + host.statistics.refused == 1 }
    // It was cancelled, and has not expired.
    #expect(vault.cancellations == 1 && host.statistics.failed == 1)
  }

  @Test("`authorize` gets the peer that the transport names")
  func authorized() throws {
    host.authorize = { $0.peer == Self.peers[1] }
    let refusals = try Self.peers.map { peer in
      try receive(Envelope.asked, 1, Vault.deposit.message.invocation(1), from: peer)
        .read { $0[0].refusal }
    }
    #expect(
      refusals == [.unauthorized, nil, .unauthorized, .unauthorized, .unauthorized, .unauthorized])
    #expect(vault.balance == 1)
  }

  @Test("a message without an answer gets none, not even a refusal, if it names a subject for one")
  func told() throws {
    func isUnanswered(_ answers: Guarded<[Envelope.Answer]>) -> Bool { answers.read { $0.isEmpty } }
    let add = try Vault.add.message.invocation(1)
    #expect(try isUnanswered(receive(Envelope.told, 1, add, from: .network)))
    #expect(
      try isUnanswered(receive(Envelope.request(Envelope.told, number: 1, [1, 2]), from: .network)))
    host.limit = 0
    #expect(try isUnanswered(receive(Envelope.told, 1, add, from: .network)))
    #expect(vault.balance == 1 && host.statistics.told == 2 && host.statistics.refused == 2)
  }

  @Test("a caller that stopped waiting gets no answer", arguments: [true, false])
  func late(isLate: Bool) async throws {
    vault.isOpen = false
    let call = try Vault.interface().encodeSent(Vault.ignore.message.invocation())
    let time = isLate ? 1 : Envelope.farAway
    let answers = try receive(
      Envelope.request(Envelope.asked, number: 7, time: time, call), from: .network)
    try await Task.sleep(for: .milliseconds(50))
    vault.isOpen = true
    try await host.drain(within: .seconds(3000))
    #expect(answers.read { $0.count } == (isLate ? 0 : 1))
    #expect(host.statistics.answered == 1)
  }
}
