// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import Invocations
import RemoteTestSupport
import Synchronization
import Testing

/// The rows of "Limits" in Documentation/Wire.md that limit numbers of hosts, calls and messages.
@Suite("Limits of how many there are", .timeLimit(.minutes(10)))
struct CrowdLimitTests {
  private static let subject: RemoteSubject = "forwarding.crowd.bank"

  /// A subscriber that answers as many hosts.
  private func crowd(
    _ count: Int, _ transport: InProcessTransport, at subject: RemoteSubject = Self.subject,
    kind: UInt8 = Envelope.pong, _ body: @escaping @Sendable (Int) -> [UInt8] = { _ in [] }
  ) throws -> any TransportSubscription {
    try transport.subscribe(to: subject, group: nil) { message in
      for host in 0..<count {
        message.answer?(
          Envelope.answer(kind, host: UInt64(host), to: message.payload, body(host)))
      }
    }
  }

  @Test(
    "4,096 hosts are counted, and answers of further hosts count as strange",
    arguments: [4096, 4097])
  func hosts(count: Int) async throws {
    let transport = InProcessTransport()
    let crowd = try crowd(count, transport)
    defer { crowd.end() }
    let remote = RemoteProxy(try Vault.interface(), transport, at: "crowd")
    // All of them have answered before the wait begins.
    #expect(try await remote.ping(expecting: .max, within: .seconds(1)) == 4096)
    #expect(remote.statistics.strange == count - 4096)
  }

  @Test("answers of 64 MB in all are accepted, and not one byte more", arguments: [0, 1])
  func bytes(extra: Int) async throws {
    let transport = InProcessTransport()
    let body = [UInt8](repeating: 0, count: 1 << 20)
    let crowd = try crowd(65, transport) { host in
      host < 64 ? body : [UInt8](repeating: 0, count: extra)
    }
    defer { crowd.end() }
    let remote = RemoteProxy(try Vault.interface(), transport, at: "crowd")
    #expect(try await remote.ping(expecting: .max, within: .seconds(1)) == 65 - extra)
    #expect(remote.statistics.strange == extra)
  }

  @Test(
    "a subject over a socket has at most 1,024 bytes: a longer one is not sent")
  func subjects() async throws {
    let path = socketPath()
    let server = try UnixSocketTransport(listeningAt: path)
    let client = try UnixSocketTransport(connectedTo: path)
    defer { server.close() }
    defer { client.close() }
    // It is surrounded by "forwarding." and ".bank", and followed by ".cancel", where a host
    // listens as well.
    let most = String(repeating: "s", count: 1024 - 16 - 7)
    let host = RemoteHost(server, as: most)
    defer { host.close() }
    try host.expose(Vault(), Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), client, at: most, deadline: .seconds(300))
    #expect(try await Vault.deposit(1, on: remote) == 1)
    let longer = RemoteProxy(
      try Vault.interface(), client, at: most + "ssssssss", deadline: .seconds(300))
    let error = TransportError.tooLarge(limit: 1024, given: 1025)
    await #expect(throws: RemoteError.notCarried(error)) { try await Vault.deposit(1, on: longer) }
    #expect(throws: RemoteError.notCarried(error)) { try Vault.add.message(1, on: longer) }
    #expect(try await Vault.deposit(1, on: remote) == 2)
  }
}

#if Macros
  extension CrowdLimitTests {
    @Test(
      "4,096 answers are gathered, and further answers count as strange", arguments: [4096, 4097])
    func voices(count: Int) async throws {
      let transport = InProcessTransport()
      let town = try Remote<VoterProxy>(transport, at: "town")
      let crowd = try crowd(
        count, transport, at: RemoteSubject(parts: "forwarding", "town", town.proxy.interface.name),
        kind: Envelope.answered
      ) { [UInt8($0 & 1)] }
      defer { crowd.end() }
      let votes = try await town.gather(within: .seconds(1)) {
        try await $0.vote("more trees?")
      }
      #expect(votes.answers.count == 4096 && votes.values.count { $0 } == 2048)
      #expect(votes.silent.isEmpty)
      #expect(town.proxy.statistics.strange == count - 4096)
      // Hosts that answered before are remembered, up to the limit of answers.
      crowd.end()
      let none = try await town.gather(within: .seconds(300)) { try await $0.vote("again?") }
      #expect(none.answers.isEmpty && none.silent.count == 4096)
    }
  }
#endif
