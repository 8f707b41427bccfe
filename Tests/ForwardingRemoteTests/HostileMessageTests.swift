// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import Synchronization
import RemoteTestSupport
import Testing

/// Bytes that no process of this package sends, each with the answer that it gets.
@Suite("Hostile messages", .timeLimit(.minutes(10)))
struct HostileMessageTests {
  private let name = "bank \(UInt32.random(in: 0 ... .max))"

  /// A change to a request for a deposit, and the refusal that it leads to.
  struct Harm: CustomTestStringConvertible {
    let testDescription: String
    let refusal: RemoteRefusal
    let change: @Sendable (inout [UInt8]) -> Void

    init(
      _ name: String, _ refusal: RemoteRefusal,
      _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) {
      (testDescription, self.refusal, self.change) = (name, refusal, change)
    }
  }

  /// The offset of the call in a request, and of the texts in the call.
  private static let call = 24
  private static let texts = call + 12
  private static let selector = texts + 4
  private static let encoding = selector + 13
  private static let arguments = encoding + 4

  static let harms = [
    Harm("nothing at all", .malformed) { $0 = [] },
    Harm("half a head", .malformed) { $0 = Array($0.prefix(12)) },
    Harm("a head without a call", .malformed) { $0 = Array($0.prefix(call)) },
    Harm("one byte less", .malformed) { $0.removeLast() },
    Harm("one byte more", .malformed) { $0.append(0) },
    Harm("another version of the head", .version) { $0[0] = 2 },
    Harm("a version that is as large as may be", .version) { ($0[0], $0[1]) = (255, 255) },
    Harm("another version of the call", .version) { $0[call] = 2 },
    Harm("a kind that there is not", .malformed) { $0[2] = 9 },
    Harm("a kind of answers", .malformed) { $0[2] = 0x81 },
    Harm("a word for where calls are cancelled", .malformed) { $0[2] = 4 },
    Harm("a byte that should be zero", .malformed) { $0[3] = 1 },
    Harm("arguments of 4 GiB", .malformed) {
      $0.replaceSubrange(call + 8..<call + 12, with: [255, 255, 255, 255])
    },
    Harm("names of 64 KiB", .malformed) {
      $0.replaceSubrange(call + 2..<call + 8, with: [255, 255, 255, 255, 255, 255])
    },
    Harm("a longer name and a shorter one", .unknownMessage) {
      $0[call + 2] += 1
      $0[call + 4] -= 1
    },
    Harm("another interface", .unknownMessage) { $0[texts] ^= 1 },
    Harm("a message that the list has not", .unknownMessage) { $0[selector] ^= 1 },
    Harm("a name that is not text", .unknownMessage) { $0[selector] = 0xFF },
    Harm("an encoding that differs by one digit", .signatureMismatch) {
      $0[encoding] = UInt8(ascii: "I")
    },
    Harm("an encoding that is not one", .signatureMismatch) { $0[encoding + 3] = 0 },
    Harm("an encoding with offsets", .signatureMismatch) {
      $0.replaceSubrange(encoding..<encoding + 4, with: Array("i20@0:8i16".utf8))
      $0[call + 6] = 10
    },
    Harm("an argument less", .malformed) {
      $0.removeLast(4)
      $0[call + 8] = 0
    },
    Harm("an argument more", .malformed) {
      $0 += [0, 0, 0, 0]
      $0[call + 8] = 8
    },
  ]

  @Test(
    "each hostile message is refused for its own reason, and the host goes on",
    arguments: Way.allCases)
  func refused(way: Way) async throws {
    let (there, here) = try way.ends()
    let host = RemoteHost(there, as: name)
    defer { host.close() }
    let vault = Vault()
    try host.expose(vault, Vault.interface())
    let good = try Vault.interface().encode(Vault.deposit.message.invocation(1))
    try #require(good.count + Self.call == Self.arguments + 4)
    for (number, harm) in Self.harms.enumerated() {
      var bytes = request(good, number: number)
      harm.change(&bytes)
      let answer = try await answer(to: bytes, over: here)
      try #require(answer.count >= 28, "\(harm.testDescription)")
      #expect(answer[2] == 0x83, "\(harm.testDescription)")
      #expect(RemoteRefusal(rawValue: answer[3]) == harm.refusal, "\(harm.testDescription)")
    }
    #expect(vault.balance == 0)
    #expect(host.statistics.refused == Self.harms.count)
    // The same bytes without the change.
    let answer = try await answer(to: request(good, number: 200), over: here)
    #expect(answer[2] == 0x81)
    #expect(vault.balance == 1)
  }

  @Test(
    "a repeated call is performed once: while it is in progress, and if its answer is not stored",
    arguments: Way.allCases)
  func again(way: Way) async throws {
    let (there, here) = try way.ends()
    let host = RemoteHost(there, as: name)
    defer { host.close() }
    let vault = Vault()
    vault.isOpen.store(false, ordering: .relaxed)
    try host.expose(vault, Vault.interface())
    // The call is in progress, and stays so.
    let hold = try request(Vault.interface().encode(Vault.hold.message.invocation()), number: 1)
    async let first = answer(to: hold, over: here)
    while host.statistics.asked < 1 { await Task.yield() }
    let second = try await answer(to: hold, over: here)
    #expect(second[2] == 0x83 && second[3] == RemoteRefusal.duplicate.rawValue)
    vault.isOpen.store(true, ordering: .relaxed)
    #expect(try await first[2] == 0x81)
    // The answer is too large to be stored.
    let text = try request(Vault.interface().encode(Vault.text.message.invocation(5000)), number: 2)
    #expect(try await answer(to: text, over: here)[2] == 0x81)
    let repeated = try await answer(to: text, over: here)
    #expect(repeated[2] == 0x83 && repeated[3] == RemoteRefusal.duplicate.rawValue)
    // Sent twice without being awaited, and performed once.
    let add = try request(
      Vault.interface().encode(Vault.add.message.invocation(5)), number: 3, kind: 2)
    try here.publish(add, to: subject)
    try here.publish(add, to: subject)
    let deposit = try request(
      Vault.interface().encode(Vault.deposit.message.invocation(1)), number: 4)
    #expect(try await answer(to: deposit, over: here)[2] == 0x81)
    #expect(vault.balance == 6)
    #expect(host.statistics.duplicates == 3)
  }

  @Test("malformed answers are ignored, and the right one is still accepted")
  func answers() async throws {
    let (there, here) = try Way.inProcess.ends()
    let liar = try there.subscribe(to: subject, group: nil) { message in
      let good = Self.answer(to: message.payload)
      for bytes in Self.strange(good) { message.answer?(bytes) }
      message.answer?(good)
    }
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(300))
    #expect(try await Vault.deposit(1, on: remote) == 7)
    #expect(remote.statistics.strange == 6)
    liar.end()
  }

  @Test(
    "an answer to another request or of another sender is ignored",
    arguments: [4, 11, 12, 19])
  func answerToAnother(place: Int) async throws {
    let (there, here) = try Way.inProcess.ends()
    let liar = try there.subscribe(to: subject, group: nil) { message in
      var other = Self.answer(to: message.payload)
      other[place] ^= 1
      other[28] = 99
      message.answer?(other)
      message.answer?(Self.answer(to: message.payload))
    }
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(300))
    #expect(try await Vault.deposit(1, on: remote) == 7)
    #expect(remote.statistics.strange == 1)
    liar.end()
  }

  @Test("the answer to a malformed request repeats its sender and number, or has zeros for them")
  func answerToNothing() async throws {
    let (there, here) = try Way.inProcess.ends()
    let host = RemoteHost(there, as: name)
    defer { host.close() }
    try host.expose(Vault(), Vault.interface())
    let request = Array(request([], number: 5).prefix(20))
    #expect(try await answer(to: request, over: here)[4..<20] == request[4..<20])
    let none = [UInt8](repeating: 0, count: 16)
    #expect(try await Array(answer(to: Array(request.dropLast()), over: here)[4..<20]) == none)
  }

  /// An answer with the result 7.
  private static func answer(to request: [UInt8]) -> [UInt8] {
    [1, 0, 0x81, 0] + request[4..<20] + [UInt8](repeating: 9, count: 8) + [7, 0, 0, 0]
  }

  /// Bytes that are almost an answer.
  private static func strange(_ good: [UInt8]) -> [[UInt8]] {
    [
      [], [1], Array(good.prefix(27)), [2] + good.dropFirst(), [1, 0, 0x01, 0] + good.dropFirst(4),
      [1, 0, 0x82, 0] + good.dropFirst(4).prefix(26),
    ]
  }

  private var subject: RemoteSubject { RemoteSubject(parts: "forwarding", name, "bank") }

  private func request(_ call: [UInt8], number: Int, kind: UInt8 = 1) -> [UInt8] {
    [1, 0, kind, 0] + [UInt8](repeating: 7, count: 8)
      + [UInt8(number)] + [UInt8](repeating: 0, count: 7) + [0, 0, 16, 0] + call
  }

  /// The answer to bytes that another process might send.
  private func answer(to bytes: [UInt8], over transport: any Transport) async throws -> [UInt8] {
    let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
    let request = try transport.request(bytes, to: subject) {
      if let answer = try? $0.get() { continuation.yield(answer) }
      continuation.finish()
    }
    defer { request.end() }
    for await answer in stream { return answer }
    return []
  }
}
