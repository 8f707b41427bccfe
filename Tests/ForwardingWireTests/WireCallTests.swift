// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Invocations
import Testing
import TypeEncodings

@Suite("Encoded calls")
struct WireCallTests {
  @Test(
    "a call is encoded as these bytes, the decoded call does the same, and no other length is a call"
  )
  func roundTrip() throws {
    let interface = try Listener.interface()
    for (call, expected, _, last) in try Listener.calls() {
      let bytes = try interface.encode(call)
      #expect(Array(bytes.suffix(last.count)) == last)
      let listener = Listener()
      try interface.decode(bytes).invoke(on: listener)
      #expect(listener.heard == [expected])
      #expect(try interface.encode(interface.decode(bytes)) == bytes)
      for count in bytes.indices {
        #expect(throws: WireError.self) { try interface.decode(Array(bytes[..<count])) }
      }
      #expect(throws: WireError.self) { try interface.decode(bytes + [0]) }
    }
  }

  @Test("each of many messages is found by its calls")
  func many() throws {
    var interface = Interface("many")
    let messages = try (0..<300).map {
      try Message<NoResult, Int32>(Selector(interning: "m\($0):"))
    }
    for message in messages { try interface.allow(message) }
    for message in messages {
      let call = try interface.decode(interface.encode(message.invocation(7)))
      #expect(try call.selector == message.selector && call.argument(at: 2, as: Int32.self) == 7)
    }
  }

  @Test("short and long calls are encoded behind room for a header")
  func room() throws {
    var shop = Interface("shop")
    let message = try Message<NoResult, String>("order:")
    try shop.allow(message)
    for count in [0, 51, 52, 53, 100_000] {
      let text = String(repeating: "x", count: count)
      let bytes = try shop.encodeSent(message.invocation(text), behind: 32)
      #expect(bytes.count == 32 + 12 + count && bytes.prefix(32).allSatisfy { $0 == 0 })
      let call = try shop.decode(Array(bytes.dropFirst(32)))
      #expect(try call.argument(at: 2, as: String.self) == text)
    }
  }

  @Test("a sent call has 8 bytes in front of its arguments, which are the same on every machine")
  func fingerprint() throws {
    var bank = Interface("bank")
    let deposit = try Message<Int32, Int32>("deposit:")
    try bank.allow(deposit)
    let bytes = try bank.encodeSent(deposit.invocation(50))
    #expect(bytes == [0x4B, 0x04, 0xB9, 0x0B, 0x40, 0xDF, 0xD4, 0xB1, 50, 0, 0, 0])
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

  @Test("a decoded result equals the one that was encoded, also one of zero size")
  func results() throws {
    func check<Value: Equatable & Sendable>(_ value: Value) throws {
      let ask = try Message<Value, Int32>("ask:")
      var interface = Interface("asking")
      try interface.allow(ask)
      let message = try #require(interface.messages.first)
      let (call, other) = try (ask.invocation(1), ask.invocation(1))
      try call.setResult(value)
      let bytes = try interface.encodeResult(of: call, as: message)
      try interface.decodeResult(bytes[...], into: other)
      #expect(try other.result(as: Value.self) == value)
      #expect(throws: WireError.self) {
        try interface.decodeResult((bytes + [0])[...], into: other)
      }
    }
    try check("yes" as String?)
    try check(nil as String?)
    try check([0, 255] as [UInt8])
    try check(Point(x: 1))
    try check(Nothing())
    let ask = try Message<String?, Int32>("ask:")
    var interface = Interface("asking")
    try interface.allow(ask)
    #expect(throws: WireError(.noResult, at: 0)) {
      try interface.encodeResult(of: ask.invocation(1), as: interface.messages[0])
    }
  }

  @Test("bytes that differ from a call are refused with their offset, and with both spellings")
  func changedBytes() throws {
    let interface = try Listener.interface()
    var native = Interface("listener")
    try native.allow("text:", MethodSignature("v@:*"))
    let (number, three) = try (Listener.number.invocation(1), Listener.three.invocation(1, 2, true))
    let (text, bytes) = try (Listener.text.invocation("abc"), Listener.bytes.invocation([1, 2, 3]))
    let own = try #require(interface.message("number:")).fingerprint
    let other = Fingerprint(selector: 0, types: own.types)
    let wide = Fingerprint(selector: own.selector, types: 0)
    // The call, an offset (from the end if it is negative), the bytes there, and the error.
    let rows: [(Invocation, Int, [UInt8], WireError.Reason)] = [
      (number, 0, [0, 0, 0, 0], .unknownSelector("\(other)")),
      (
        number, 4, [0, 0, 0, 0],
        .encoding(selector: "number:", expected: "v@:i", given: "\(wide)")
      ),
      (three, -1, [2], .notBool(2)),
      (text, -1, [255], .notText),
      (bytes, -7, [255, 255, 255, 255], .limit(1 << 20, given: 4_294_967_295)),
      (bytes, -7, [4], .tooShort(expected: 4, given: 3)),
      (bytes, -7, [2], .tooLong(expected: 0, given: 1)),
    ]
    for (call, offset, changed, reason) in rows {
      var bytes = try interface.encode(call)
      let start = offset < 0 ? bytes.count + offset : offset
      bytes.replaceSubrange(start..<start + changed.count, with: changed)
      let error = #expect(throws: WireError.self) { try interface.decode(bytes) }
      #expect(error?.reason == reason)
      if case .notBool = reason { #expect(error?.offset == start) }
    }
    // A NUL is part of a Swift text, and would cut a C string.
    var cut = try interface.encode(text)
    cut[cut.count - 1] = 0
    #expect(throws: Never.self) { try interface.decode(cut) }
    #expect(throws: WireError(.embeddedNUL, at: cut.count - 7)) { try native.decode(cut) }
    // A value that its type refuses.
    var point = try interface.encode(Listener.point.invocation(Point(x: 1)))
    point[point.count - 2] = UInt8(ascii: "x")
    let error = #expect(throws: WireError.self) { try interface.decode(point) }
    guard case .value? = error?.reason else {
      Issue.record("\(String(describing: error))")
      return
    }
  }
}
