// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import ForwardingWire
import Testing

/// Calls between two processes, which have a fingerprint in place of names.
@Suite("Sent calls")
struct SentCallTests {
  private static let deposit = try! Message<Int32, Int32>("deposit:")

  private static func bank(_ name: String = "bank") throws -> Interface {
    var bank = Interface(name)
    try bank.allow(deposit)
    return bank
  }

  @Test("a sent call has 8 bytes in front of its arguments, which are the same on every machine")
  func bytes() throws {
    let bytes = try Self.bank().encodeSent(Self.deposit.invocation(50))
    #expect(bytes == [0x4B, 0x04, 0xB9, 0x0B, 0x40, 0xDF, 0xD4, 0xB1, 50, 0, 0, 0])
  }

  @Test(
    "the hash of a fingerprint is FNV-1a",
    arguments: [
      ("", 0xCBF2_9CE4_8422_2325), ("a", 0xAF63_DC4C_8601_EC8C), ("foobar", 0x8594_4171_F739_67E8),
    ] as [(String, UInt64)])
  func hash(text: String, hash: UInt64) {
    #expect(Fingerprint.hash(text.utf8) == hash)
  }

  @Test("each call is decoded, and does what it did")
  func decoding() throws {
    let interface = try Listener.interface()
    for (call, expected) in try Listener.calls() {
      let bytes = try interface.encodeSent(call, behind: 3)
      #expect(bytes.prefix(3) == [0, 0, 0])
      let listener = Listener()
      try Self.decoded(bytes.dropFirst(3), interface).invoke(on: listener)
      #expect(listener.heard == [expected])
    }
  }

  private static func decoded(
    _ bytes: ArraySlice<UInt8>, _ interface: Interface
  ) throws -> Invocation {
    let fingerprint = try interface.fingerprint(of: bytes)
    let message = try #require(interface.message(fingerprint))
    #expect(message.fingerprint == fingerprint)
    let call = Invocation(message.plan)
    try interface.decodeSent(bytes, as: message, into: call)
    return call
  }

  @Test("each of many messages is found by the fingerprint of its calls")
  func many() throws {
    var interface = Interface("many")
    let messages = try (0..<300).map {
      try Message<NoResult, Int32>(Selector(interning: "m\($0):"))
    }
    for message in messages { try interface.allow(message) }
    for message in messages {
      let call = try Self.decoded(
        interface.encodeSent(message.invocation(7))[...], interface)
      #expect(try call.selector == message.selector && call.argument(at: 2, as: Int32.self) == 7)
    }
  }

  @Test("other types change one half of the fingerprint, another interface or selector both")
  func halves() throws {
    func fingerprint(_ interface: String, _ selector: String, _ types: String) -> Fingerprint {
      Fingerprint(Array(interface.utf8), Array(selector.utf8), Array(types.utf8))
    }
    let own = fingerprint("bank", "deposit:", "i@:i")
    let wide = fingerprint("bank", "deposit:", "q@:q")
    #expect(wide.selector == own.selector && wide.types != own.types)
    for other in [
      fingerprint("bang", "deposit:", "i@:i"), fingerprint("bank", "deposir:", "i@:i"),
      fingerprint("bankd", "eposit:", "i@:i"), fingerprint("bank", "deposit:i", "@:i"),
    ] {
      #expect(other.selector != own.selector && other.types != own.types)
    }
  }

  @Test("two messages of one interface with the same fingerprint are refused when it is made")
  func collision() throws {
    let one = try Message<NoResult, Int32>("depositForClerkNearOwner:")
    let other = try Message<NoResult, String>("payOfCoinsNearSafe:")
    var bank = Interface("bank")
    try bank.allow(one)
    #expect(
      throws: InterfaceError.sameFingerprint(
        selector: "payOfCoinsNearSafe:", other: "depositForClerkNearOwner:")
    ) {
      try bank.allow(other)
    }
    #expect(bank.messages.map(\.selector) == ["depositForClerkNearOwner:"])
    // In another interface they differ.
    var shop = Interface("shop")
    try shop.allow(one)
    try shop.allow(other)
    #expect(shop.messages.count == 2)
  }

  @Test("a sent call that is cut anywhere, or has further bytes, is refused")
  func cut() throws {
    let interface = try Listener.interface()
    for (call, _) in try Listener.calls() {
      let bytes = try interface.encodeSent(call)
      for count in bytes.indices {
        #expect(throws: WireError.self) { try Self.decoded(bytes[..<count], interface) }
      }
      #expect(throws: WireError.self) { try Self.decoded((bytes + [0])[...], interface) }
    }
  }

  @Test("a sent call has at most as many bytes as the limit, on both sides")
  func limits() throws {
    var limits = WireLimits()
    limits.message = 8 + 4 + 3
    let message = try Message<NoResult, String>("order:")
    var small = Interface("shop", limits: limits)
    try small.allow(message)
    var large = Interface("shop")
    try large.allow(message)
    let most = try small.encodeSent(message.invocation("tea"))
    #expect(try Self.decoded(most[...], small).argument(at: 2, as: String.self) == "tea")
    #expect(throws: WireError(.limit(15, given: 16), at: 12)) {
      try small.encodeSent(message.invocation("milk"))
    }
    let more = try large.encodeSent(message.invocation("milk"))
    #expect(throws: WireError(.limit(15, given: 16), at: 0)) {
      try small.fingerprint(of: more[...])
    }
  }

  @Test("a call that is longer than the stack has room for is encoded as any other")
  func long() throws {
    let message = try Message<NoResult, String>("order:")
    var shop = Interface("shop")
    try shop.allow(message)
    for count in [490, 499, 500, 501, 512, 100_000] {
      let text = String(repeating: "x", count: count)
      let bytes = try shop.encodeSent(message.invocation(text))
      #expect(bytes.count == 12 + count)
      #expect(try Self.decoded(bytes[...], shop).argument(at: 2, as: String.self) == text)
    }
  }
}
