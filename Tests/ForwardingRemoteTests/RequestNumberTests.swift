// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import ForwardingWire
import Invocations
import RemoteTestSupport
import Synchronization
import Testing

@Suite("The numbers of requests", .timeLimit(.minutes(10)))
struct RequestNumberTests {
  private static let subject: RemoteSubject = "forwarding.bank.bank"

  private func answer(_ payload: [UInt8], _ transport: InProcessTransport) throws -> [UInt8] {
    let answers = Guarded<[[UInt8]]>([])
    let request = try transport.request(payload, to: Self.subject) { answer in
      if case .success(let bytes) = answer { answers.withLock { $0.append(bytes) } }
    }
    request.end()
    return try #require(answers.read { $0.first })
  }

  @Test("a call that does not suspend is performed on the receiving thread, without a task")
  func atOnce() async throws {
    let transport = InProcessTransport()
    let host = RemoteHost(transport, as: "bank")
    defer { host.close() }
    let vault = Vault()
    vault.look = { withUnsafeCurrentTask { $0 != nil } }
    let interface = try Vault.interface()
    try host.expose(vault, interface)
    let deposit = Envelope.request(
      Envelope.asked, number: 0,
      try interface.encodeSent(Message<Int32, Int32>("vaultDeposit:").invocation(5)))
    let done = await withCheckedContinuation { continuation in
      beginThread {
        continuation.resume(returning: Result { try answer(deposit, transport) })
      }
    }
    _ = try done.get()
    #expect(vault.balance == 5 && vault.looks == [false])
  }

  @Test("a process that has seen a call cannot cancel the next ones of the same sender")
  func forged() async throws {
    let transport = InProcessTransport()
    let host = RemoteHost(transport, as: "bank")
    defer { host.close() }
    let vault = Vault()
    let interface = try Vault.interface()
    try host.expose(vault, interface)
    let proxy = RemoteProxy(interface, transport, at: "bank", deadline: .seconds(300))
    // Another process receives the first call, as a member of a group may.
    let seen = Guarded<[UInt8]>([])
    let spy = try transport.subscribe(to: Self.subject, group: nil) { message in
      seen.withLock { $0 = message.payload }
    }
    #expect(try await Vault.deposit(1, on: proxy) == 1)
    spy.end()
    // It cancels the numbers that might be next.
    let first = seen.read { $0 }
    let number = (0..<8).reduce(0) { $0 | UInt64(first[4 + $1]) << (8 * UInt64($1)) }
    for next in 1...64 {
      try transport.publish(
        Envelope.request(Envelope.cancel, number: number &+ UInt64(next)),
        to: Envelope.cancels(of: Self.subject))
    }
    try await Vault.sleep(1, on: proxy)
    #expect(vault.cancellations.load(ordering: .relaxed) == 0)
  }
}
