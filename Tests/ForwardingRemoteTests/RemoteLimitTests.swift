// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import Invocations
import RemoteTestSupport
import Testing

/// Each row of "Limits" in Documentation/Wire.md: a value at the limit is accepted, and one beyond
/// it is refused.
@Suite("Limits of encoded calls from other processes", .timeLimit(.minutes(60)))
struct RemoteLimitTests {
  /// A bank with limits, and a proxy that has wider ones.
  private struct Office {
    let bank: Bank
    let greedy: RemoteProxy
    var fair: RemoteProxy { bank.remote }

    init(_ limits: WireLimits = WireLimits()) throws {
      let transport = InProcessTransport(maximumPayload: 16 << 20)
      bank = try Bank((transport, transport), limits: limits)
      var wide = WireLimits()
      (wide.message, wide.text, wide.depth) = (8 << 20, 8 << 20, 100)
      greedy = try bank.proxy(Vault.interface(wide))
    }
  }

  /// Checks that a sender refuses a call with its own limits, and that the host refuses it from one
  /// with wider limits, and lives on.
  private func refused(
    _ reason: WireError.Reason, _ office: Office, _ call: (RemoteProxy) async throws -> Void
  ) async throws {
    try await wire(reason) { try await call(office.fair) }
    try await refused(.malformed, "\(reason)") { try await call(office.greedy) }
    #expect(try await Vault.deposit(1, on: office.fair) > 0)
  }

  private func wire(_ reason: WireError.Reason, _ call: () async throws -> Void) async throws {
    let error = await #expect(throws: RemoteError.self) { try await call() }
    if case .wire(let error) = error {
      #expect(error.reason == reason)
    } else {
      Issue.record("\(String(describing: error))")
    }
  }

  private func refused(
    _ refusal: RemoteRefusal, _ reason: String, _ call: () async throws -> Void
  ) async throws {
    let error = await #expect(throws: RemoteError.self) { try await call() }
    let words = error?.description ?? ""
    #expect(words.hasPrefix("the call was refused: \(refusal) ("), "\(words)")
    #expect(words.contains(reason), "\(words)")
  }

  @Test("a call has at most 1 MB, and so has a text: both sides refuse more")
  func message() async throws {
    let office = try Office()
    // Without the header of a call, and the length of the text.
    let empty = try Vault.interface().encodeSent(Vault.keep.message.invocation("")).count
    let most = String(repeating: "x", count: (1 << 20) - empty)
    try await Vault.keep(most, on: office.fair)
    try await refused(.limit(1 << 20, given: (1 << 20) + 1), office) {
      try await Vault.keep(most + "x", on: $0)
    }
    // A result has no header: it is limited by the message, with its length in front.
    #expect(try await Vault.text((1 << 20) - 4, on: office.fair).utf8.count == (1 << 20) - 4)
    try await refused(.unsendableResult, "1048576") {
      _ = try await Vault.text((1 << 20) - 3, on: office.greedy)
    }
  }

  @Test("a text has at most as many bytes as its limit, on both sides and in answers")
  func text() async throws {
    var limits = WireLimits()
    limits.text = 1000
    let office = try Office(limits)
    let text = String(repeating: "x", count: 1000)
    for proxy in [office.fair, office.greedy] {
      try await Vault.keep(text, on: proxy)
      #expect(try await Vault.text(1000, on: proxy) == text)
    }
    try await refused(.limit(1000, given: 1001), office) {
      try await Vault.keep(text + "x", on: $0)
    }
    try await refused(.unsendableResult, "1001") {
      _ = try await Vault.text(1001, on: office.greedy)
    }
    // A host with wider limits.
    let wide = try Office()
    let careful = try wide.bank.proxy(Vault.interface(limits))
    #expect(try await Vault.text(1000, on: careful) == text)
    try await wire(.limit(1000, given: 1001)) { _ = try await Vault.text(1001, on: careful) }
  }

  @Test("lists nest at most 16 deep in a value")
  func depth() async throws {
    let office = try Office()
    #expect(try await Vault.nest(Vault.Nest(16), on: office.fair))
    try await refused(.nestedTooDeeply(limit: 16), office) {
      _ = try await Vault.nest(Vault.Nest(18), on: $0)
    }
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
        let wordy = try bank.there.subscribe(to: "forwarding.wordy.bank", group: nil) {
          $0.answer?(Envelope.answer(kind, refusal: 6, host: 1, to: $0.payload, body))
        }
        defer { wordy.end() }
        await #expect(throws: expected) { try await Vault.fail(1, on: bank.proxy(at: "wordy")) }
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

  @Test(
    "a message or a result that is larger than the transport carries is refused where it is sent",
    arguments: Way.allCases)
  func large(way: Way) async throws {
    let bank = try Bank(way)
    let limit = bank.here.maximumPayload
    #expect(throws: TransportError.tooLarge(limit: limit, given: limit + 1)) {
      try bank.here.publish([UInt8](repeating: 0, count: limit + 1), to: "anything")
    }
    let subject = RemoteSubject("large.\(UInt32.random(in: 0 ... .max))")
    let received = LockedValue(0)
    let listener = try bank.there.subscribe(to: subject, group: nil) { message in
      received.withLock { $0 = message.payload.count }
    }
    defer { listener.end() }
    try bank.here.publish([UInt8](repeating: 1, count: limit), to: subject)
    try await eventually { received.withLock { $0 } == limit }
    // The answer has 20 bytes in front of the text, and four for its length.
    #expect(try await Vault.text(limit - 24, on: bank.remote).utf8.count == limit - 24)
    let error = TransportError.tooLarge(limit: limit, given: limit + 1)
    await #expect(throws: RemoteError.refused(.unsendableResult, "\(error)")) {
      try await Vault.text(limit - 23, on: bank.remote)
    }
    #expect(bank.host.statistics.refused == 1)
  }

  @Test(
    "a subject of more than 1,024 bytes is refused, and the connection goes on",
    arguments: Way.allCases.filter { $0 != .inProcess })
  func subjects(way: Way) async throws {
    let ends = try way.ends()
    let room = 1024 - "forwarding..bank.cancel".utf8.count
    func name(_ count: Int) -> String {
      let number = String(UInt32.random(in: 0 ... .max))
      return number + String(repeating: "x", count: count - number.utf8.count)
    }
    let bank = try Bank(ends, as: name(room))
    for count in [5000, 70_000] {
      let name = name(count)
      let error = TransportError.tooLarge(limit: 1024, given: count + "forwarding..bank".utf8.count)
      #expect(throws: error) { try Bank(ends, as: name) }
      let remote = try bank.proxy(at: name)
      await #expect(throws: RemoteError.notCarried(error)) {
        try await Vault.deposit(7, on: remote)
      }
      #expect(throws: RemoteError.notCarried(error)) { try Vault.add.message(7, on: remote) }
    }
    #expect(try await Vault.deposit(7, on: bank.remote) == 7)
  }
}
