// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import Forwarding
import ForwardingRemote
import ForwardingWire
import RemoteTestSupport
import Testing

/// What a call costs beside its argument.
@Suite("The cost of a call", .timeLimit(.minutes(10)))
struct CostTests {
  private static let deposit = try! AsyncMessage<Int32, Int32>("deposit:")

  private static func bank() throws -> Interface {
    var bank = Interface("bank")
    try bank.allow(deposit)
    return bank
  }

  @Test("over a socket, a call has 32 bytes around an argument of 4, and its answer 24")
  func bytes() async throws {
    let path = socketPath()
    let server = try UnixSocketTransport(listeningAt: path)
    defer { server.close() }
    let sent = Guarded<[UInt8]>([])
    let listener = try server.subscribe(to: "forwarding.bank-1.bank", group: nil) { message in
      sent.withLock { $0 = message.payload }
      message.answer?(
        Envelope.answer(Envelope.answered, host: 1, to: message.payload, [7, 0, 0, 0]))
    }
    let client = try UnixSocketTransport(connectedTo: path)
    defer { client.close() }
    let remote = RemoteProxy(try Self.bank(), client, at: "bank-1", deadline: .seconds(300))
    #expect(try await Self.deposit(5, on: remote) == 7)
    listener.end()
    let payload = sent.read { $0 }
    #expect(payload.count == 20 + 4)
    #expect(SocketFrame(.asked, 1, "forwarding.bank-1.bank", payload).bytes.count == 32 + 4)
    let answer = Envelope.answer(Envelope.answered, host: 1, to: payload, [7, 0, 0, 0])
    #expect(SocketFrame(.answered, 1, nil, answer).bytes.count == 24 + 4)
  }

  @Test(
    "a call in process takes no more allocations than counted here",
    .enabled(if: fixture_allocations() >= 0))
  func allocations() async throws {
    let transport = InProcessTransport()
    let host = RemoteHost(transport, as: "bank")
    defer { host.close() }
    try host.expose(Vault(), Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), transport, at: "bank", deadline: .seconds(300))
    for _ in 0..<3 { _ = try await Vault.deposit(1, on: remote) }
    // Such a call does not suspend, so it stays on the thread.
    let before = fixture_allocations()
    for _ in 0..<100 { _ = try await Vault.deposit(1, on: remote) }
    let count = fixture_allocations() - before
    #expect(count > 0 && count <= Self.most * 100, "\(Double(count) / 100) for each call")
  }

  /// Code that is not optimized boxes more values.
  #if DEBUG
    private static let most = 20
  #else
    private static let most = 6
  #endif
}
