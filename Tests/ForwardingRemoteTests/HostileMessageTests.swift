// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import RemoteTestSupport
import Testing

/// Bytes that no process of this package sends, each with the answer that it gets.
@Suite("Hostile messages", .timeLimit(.minutes(60)))
struct HostileMessageTests {
  /// A change to a request for a deposit, and the refusal that it leads to.
  private struct Harm {
    let name: String
    let refusal: RemoteRefusal
    let change: @Sendable (inout [UInt8]) -> Void

    init(
      _ name: String, _ refusal: RemoteRefusal,
      _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) {
      (self.name, self.refusal, self.change) = (name, refusal, change)
    }
  }

  /// The offset of the call in a request, and of the parts of the call.
  private static let call = 12
  private static let types = call + 4
  private static let arguments = call + 8

  private static let harms = [
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

  /// Changes to a request on the subject of cancels, where each is malformed.
  private static let misplaced: [@Sendable (inout [UInt8]) -> Void] = [
    { _ in }, { $0[1] = 2 }, { $0 = Array($0.prefix(call)) }, { $0[1] = 4 }, { $0 = [] },
    { $0 = [2, 4, 0, 0] },
  ]

  private func deposit() throws -> [UInt8] {
    let call = try Vault.interface().encodeSent(Vault.deposit.message.invocation(1))
    try #require(call.count + Self.call == Self.arguments + 4)
    return Envelope.request(Envelope.asked, number: 7, call)
  }

  @Test(
    "each hostile message is refused for its own reason, and the host goes on",
    arguments: Way.allCases)
  func refused(way: Way) async throws {
    let bank = try Bank(way)
    let good = try deposit()
    func refusal(_ change: (inout [UInt8]) -> Void, at subject: RemoteSubject) async throws
      -> RemoteRefusal?
    {
      var bytes = good
      change(&bytes)
      let answer = try await ask(bank.here, bytes, subject).get()
      // The number of the request, or zeros if it is too short to have one.
      #expect(answer[4..<12].elementsEqual(bytes.count < Self.call ? Envelope.none : good[4..<12]))
      return Envelope.Answer(answer).refusal
    }
    for harm in Self.harms {
      #expect(try await refusal(harm.change, at: bank.subject) == harm.refusal, "\(harm.name)")
    }
    for change in Self.misplaced {
      #expect(try await refusal(change, at: Envelope.cancels(of: bank.subject)) == .malformed)
    }
    #expect(bank.vault.balance == 0)
    #expect(bank.host.statistics.refused == Self.harms.count + Self.misplaced.count)
    // All but the nine whose head is right.
    #expect(bank.host.statistics.strange == Self.harms.count - 9 + Self.misplaced.count)
    // The same bytes without the change.
    #expect(try await ask(bank.here, good, bank.subject).get()[1] == Envelope.answered)
    #expect(bank.vault.balance == 1)
  }

  @Test("malformed answers are ignored, and the right one is still accepted")
  func answers() async throws {
    let bank = try Bank()
    let liar = try bank.there.subscribe(to: "forwarding.liar.bank", group: nil) { message in
      let good = Envelope.answer(Envelope.answered, host: 9, to: message.payload, [7, 0, 0, 0])
      for bytes in Self.strange(good) { message.answer?(bytes) }
      message.answer?(good)
    }
    defer { liar.end() }
    let remote = try bank.proxy(at: "liar")
    #expect(try await Vault.deposit(1, on: remote) == 7)
    #expect(remote.statistics.strange == 10)
  }

  @Test(
    "a host of another version refuses a call, and the caller gets an error that says so",
    arguments: [1, 3, 255] as [UInt8])
  func otherHost(version: UInt8) async throws {
    let bank = try Bank()
    let host = try bank.there.subscribe(to: "forwarding.other.bank", group: nil) { message in
      let refusal = Envelope.answer(
        Envelope.refused, refusal: RemoteRefusal.version.rawValue, host: 7, to: message.payload)
      message.answer?([version] + refusal.dropFirst())
    }
    defer { host.end() }
    let remote = try bank.proxy(at: "other")
    await #expect(throws: RemoteError.refused(.version, "")) {
      try await Vault.deposit(1, on: remote)
    }
    #expect(remote.statistics.refused == 1)
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
}
