// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import Synchronization
import RemoteTestSupport
import Testing

/// Bytes that no process of this package sends, each with the answer that it gets.
@Suite("Hostile messages", .timeLimit(.minutes(60)))
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

  /// The offset of the call in a request, and of the parts of the call.
  private static let call = 12
  private static let types = call + 4
  private static let arguments = call + 8

  static let harms = [
    Harm("nothing at all", .malformed) { $0 = [] },
    Harm("a version and no more", .malformed) { $0 = [2] },
    Harm("half a head", .malformed) { $0 = Array($0.prefix(6)) },
    Harm("a head without a call", .malformed) { $0 = Array($0.prefix(call)) },
    Harm("half a fingerprint", .malformed) { $0 = Array($0.prefix(types)) },
    Harm("one byte less", .malformed) { $0.removeLast() },
    Harm("one byte more", .malformed) { $0.append(0) },
    Harm("the version before this one", .version) { $0[0] = 1 },
    Harm("another version", .version) { $0[0] = 3 },
    Harm("another version, and no more", .version) { $0 = [255] },
    Harm("a kind that there is not", .malformed) { $0[1] = 9 },
    Harm("a kind of answers", .malformed) { $0[1] = 0x81 },
    Harm("a word for where calls are cancelled", .malformed) { $0[1] = 4 },
    Harm("a message that the list has not", .unknownMessage) { $0[call] ^= 1 },
    Harm("types that differ", .signatureMismatch) { $0[types] ^= 1 },
    Harm("the fingerprint of another interface", .unknownMessage) {
      let other = Fingerprint(
        Array("bang".utf8), Array("vaultDeposit:".utf8), Array("i@:i".utf8))
      $0.replaceSubrange(call..<arguments, with: Envelope.bytes(of: other))
    },
    Harm("an argument less", .malformed) { $0.removeLast(4) },
    Harm("an argument more", .malformed) { $0 += [0, 0, 0, 0] },
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
    let good = try Vault.interface().encodeSent(Vault.deposit.message.invocation(1))
    try #require(good.count + Self.call == Self.arguments + 4)
    for (number, harm) in Self.harms.enumerated() {
      var bytes = request(good, number: number)
      harm.change(&bytes)
      let answer = try await answer(to: bytes, over: here)
      let read = Envelope.Answer(answer)
      #expect(read.kind == Envelope.refused, "\(harm.testDescription)")
      #expect(read.refusal == harm.refusal, "\(harm.testDescription)")
    }
    #expect(vault.balance == 0)
    #expect(host.statistics.refused == Self.harms.count)
    // The same bytes without the change.
    let answer = try await answer(to: request(good, number: 200), over: here)
    #expect(answer[1] == Envelope.answered)
    #expect(vault.balance == 1)
  }

  @Test("malformed answers are ignored, and the right one is still accepted")
  func answers() async throws {
    let (there, here) = try Way.inProcess.ends()
    let liar = try there.subscribe(to: subject, group: nil) { message in
      let good = Self.answer(to: message.payload)
      for bytes in Self.strange(good) { message.answer?(bytes) }
      message.answer?(good)
    }
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
    #expect(try await Vault.deposit(1, on: remote) == 7)
    #expect(remote.statistics.strange == 10)
    liar.end()
  }

  @Test("the answer to a malformed request repeats its number, or has zeros for it")
  func answerToNothing() async throws {
    let (there, here) = try Way.inProcess.ends()
    let host = RemoteHost(there, as: name)
    defer { host.close() }
    try host.expose(Vault(), Vault.interface())
    var request = request([], number: 5)
    request[1] = 9
    #expect(try await answer(to: request, over: here)[4..<12] == request[4..<12])
    let none = [UInt8](repeating: 0, count: 8)
    #expect(try await Array(answer(to: Array(request.dropLast()), over: here)[4..<12]) == none)
  }

  @Test(
    "a host of another version refuses a call, and the caller gets an error that says so",
    arguments: [1, 3, 255] as [UInt8])
  func otherHost(version: UInt8) async throws {
    let (there, here) = try Way.inProcess.ends()
    let host = try there.subscribe(to: subject, group: nil) { message in
      let refusal = Envelope.answer(
        Envelope.refused, refusal: RemoteRefusal.version.rawValue, host: 7, to: message.payload)
      message.answer?([version] + refusal.dropFirst())
    }
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
    await #expect(throws: RemoteError.refused(.version, "")) {
      try await Vault.deposit(1, on: remote)
    }
    #expect(remote.statistics.refused == 1)
    host.end()
  }

  /// An answer with the result 7.
  private static func answer(to request: [UInt8]) -> [UInt8] {
    Envelope.answer(Envelope.answered, host: 9, to: request, [7, 0, 0, 0])
  }

  /// Bytes that are almost an answer.
  private static func strange(_ good: [UInt8]) -> [[UInt8]] {
    [
      [], [2], Array(good.prefix(19)), [1] + good.dropFirst(), [2, 1, 0, 0] + good.dropFirst(4),
      [2, 0x81, 0, 1] + good.dropFirst(4), [2, 0x82, 0, 0] + good.dropFirst(4).prefix(18),
      // Refused by another version, but not because of that.
      [3, 0x83, 1, 0] + good.dropFirst(4),
      // The answer to another request.
      flipped(good, 4), flipped(good, 11),
    ]
  }

  private static func flipped(_ bytes: [UInt8], _ place: Int) -> [UInt8] {
    var bytes = bytes
    bytes[place] ^= 1
    return bytes
  }

  private var subject: RemoteSubject { RemoteSubject(parts: "forwarding", name, "bank") }

  private func request(_ call: [UInt8], number: Int, kind: UInt8 = 1) -> [UInt8] {
    Envelope.request(kind, number: UInt64(number), call)
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
