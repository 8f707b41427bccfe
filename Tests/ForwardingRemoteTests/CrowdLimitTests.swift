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

  @Test("answers of 64 MB in all are accepted, and not one byte more", arguments: [0, 1])
  func bytes(extra: Int) async throws {
    let transport = InProcessTransport()
    // Each answer counts with its head of 20 bytes, and a kilobyte more.
    let body = [UInt8](repeating: 0, count: (1 << 20) - 1044)
    let crowd = try crowd(64, transport) { host in
      host > 0 ? body : body + [UInt8](repeating: 0, count: extra)
    }
    defer { crowd.end() }
    let remote = RemoteProxy(try Vault.interface(), transport, at: "crowd")
    #expect(try await remote.ping(expecting: .max, within: .seconds(10)) == 64 - extra)
    #expect(remote.statistics.strange == extra)
  }
}
