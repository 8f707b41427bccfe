// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import Invocations
import RemoteTestSupport
import Testing

/// Each row of "Limits" in Documentation/Wire.md: a value at the limit is accepted, and one beyond
/// it is refused.
@Suite("Limits of encoded calls from other processes")
struct RemoteLimitTests {
  /// A value of a size at a limit, and one beyond it.
  private struct Limit: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var limits = WireLimits()
    let most: Int
    let beyond: Int
    let reason: WireError.Reason
    var isResult = false
    /// Whether the sender refuses it as well as the host.
    var isOfBoth = true
    let call: @Sendable (Int, RemoteProxy) async throws -> Void
  }

  /// A call without its text.
  private static let empty = try! Vault.interface().encodeSent(Vault.hold.message.invocation(""))
    .count

  private static let shortTexts = {
    var limits = WireLimits()
    limits.text = 1000
    return limits
  }()

  private static let limits = [
    Limit(
      testDescription: "a call of 1 MB", most: 1 << 20, beyond: (1 << 20) + 1,
      reason: .limit(1 << 20, given: (1 << 20) + 1)
    ) { try await Vault.hold(String(repeating: "x", count: $0 - empty), on: $1) },
    // It has no header: it is limited by the message, with its length in front.
    Limit(
      testDescription: "a result of 1 MB", most: (1 << 20) - 4, beyond: (1 << 20) - 3,
      reason: .limit(1 << 20, given: (1 << 20) + 1), isResult: true, isOfBoth: false
    ) {
      let text = try await Vault.text($0, on: $1)
      #expect(text.utf8.count == $0)
    },
    Limit(
      testDescription: "a text of 1000 bytes", limits: shortTexts, most: 1000, beyond: 1001,
      reason: .limit(1000, given: 1001)
    ) { try await Vault.hold(String(repeating: "x", count: $0), on: $1) },
    Limit(
      testDescription: "a text in a result", limits: shortTexts, most: 1000, beyond: 1001,
      reason: .limit(1000, given: 1001), isResult: true
    ) {
      let text = try await Vault.text($0, on: $1)
      #expect(text.utf8.count == $0)
    },
    Limit(
      testDescription: "lists 16 deep", most: 16, beyond: 18, reason: .nestedTooDeeply(limit: 16)
    ) {
      let isNest = try await Vault.nest(Vault.Nest($0), on: $1)
      #expect(isNest)
    },
  ]

  @Test("a sender and a host both refuse what is beyond a limit, and go on", arguments: limits)
  private func limited(limit: Limit) async throws {
    let transport = InProcessTransport(maximumPayload: 16 << 20)
    func refused(_ remote: RemoteProxy) async -> RemoteError? {
      await #expect(throws: RemoteError.self) { try await limit.call(limit.beyond, remote) }
    }
    var wide = WireLimits()
    (wide.message, wide.text, wide.depth) = (8 << 20, 8 << 20, 100)
    let bank = try Bank((transport, transport), limits: limit.limits)
    let greedy = try bank.proxy(Vault.interface(wide))
    for remote in [bank.remote, greedy] { try await limit.call(limit.most, remote) }
    // The host refuses a value from a sender with wider limits, or such a result.
    let refusal: RemoteRefusal = limit.isResult ? .unsendableResult : .malformed
    let words = await refused(greedy)?.description ?? ""
    #expect(words.hasPrefix("the call was refused: \(refusal) ("), "\(words)")
    #expect(words.contains("\(limit.reason)"), "\(words)")
    #expect(try await Vault.deposit(1, on: bank.remote) == 1)
    guard limit.isOfBoth else { return }
    // A sender refuses a value, or a result of a host with wider limits.
    let generous = try Bank((transport, transport), limits: wide)
    guard case .wire(let error) = await refused(try generous.proxy(Vault.interface(limit.limits)))
    else {
      Issue.record("it is not refused by the sender")
      return
    }
    #expect(error.reason == limit.reason)
  }

  @Test("both sides cut the text of an error to 4,096 bytes")
  func errorText() async throws {
    let bank = try Bank()
    func text(_ count: Int) -> String { String(repeating: "x", count: count) }
    for (count, length) in [(4096, 4096), (4097, 4096), (100_000, 4096)] {
      await #expect(throws: RemoteError.failed(code: 28, text: text(length))) {
        try await Vault.fail(count, on: bank.remote)
      }
    }
    // The answers of a host that does not cut the text.
    let rows: [(UInt8, [UInt8], RemoteError)] = [
      (Envelope.failed, [1, 0, 0, 0], .failed(code: 1, text: text(4096))),
      (Envelope.refused, [], .refused(.busy, text(4096))),
    ]
    for (kind, code, expected) in rows {
      for count in [4096, 4097] {
        let body = code + Array(text(count).utf8)
        let wordy = try Pretender {
          $0.answer?(Envelope.answer(kind, refusal: 6, host: 1, to: $0.payload, body))
        }
        await #expect(throws: expected) { try await Vault.fail(1, on: wordy) }
      }
    }
    // A transport that carries less than the text cuts it, too.
    let narrow = InProcessTransport(maximumPayload: 1024)
    let other = try Bank((narrow, narrow))
    await #expect(throws: RemoteError.failed(code: 28, text: text(1024 - 24))) {
      try await Vault.fail(4000, on: other.remote)
    }
    #expect(other.host.statistics.failed == 1)
  }
}
