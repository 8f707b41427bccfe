// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Testing

@Suite("Types and messages that can be sent")
struct InterfaceTests {
  @Test(
    "a type without a meaning in other processes is refused when its message is allowed",
    arguments: [
      ("v@:^v", 1, InterfaceError.Refusal.address), ("v@:^i", 1, .address),
      ("v@:^?", 1, .address), ("v@:@?", 1, .address), ("v@:[4i]", 1, .address),
      ("v@:@", 1, .object), ("@@:", 0, .object), ("v@::", 1, .name), ("v@:#", 1, .name),
      ("v@:(u=id)", 1, .union), ("v@:{s=b0I3b3I5}", 1, .bitField), ("v@:D", 1, .unportable),
      ("v@:jd", 1, .unportable), ("v@:{s=i*}", 1, .address), ("v@:{s=i@}", 1, .object),
      ("v@:{s=i(u=id)}", 1, .union), ("v@:{s=[2^v]}", 1, .address), ("^v@:", 0, .address),
      ("v@:i{e={d={c={b=:}}}}", 2, .name), ("v@:{s=[2000{t=ci}]}", 1, .shape),
      ("v@:{s=iD}", 1, .unportable),
    ])
  func refused(encoding: String, place: Int, refusal: InterfaceError.Refusal) throws {
    var interface = Interface("refusing")
    let colons = try MethodSignature(parsing: encoding).numberOfDeclaredArguments
    let selector = try Selector(interning: "m" + String(repeating: ":", count: colons))
    #expect {
      try interface.allow(selector, MethodSignature(parsing: encoding))
    } throws: {
      guard case InterfaceError.refused(_, place == 0 ? nil : place + 1, _, refusal) = $0 else {
        Issue.record("\($0)")
        return false
      }
      return true
    }
    #expect(interface.messages.isEmpty)
  }

  struct Opaque: Sendable { var number = 1 }

  @Test("a Swift type can be sent only if it is Codable")
  func swiftTypes() throws {
    var interface = Interface("values")
    #expect(throws: InterfaceError.self) {
      try interface.allow(Message<NoResult, Opaque>("opaque:"))
    }
    #expect(throws: InterfaceError.self) {
      try interface.allow(Message<NoResult, @Sendable (Int) -> Void>("closure:"))
    }
    #expect(throws: Never.self) {
      try interface.allow(Message<[Point], Point?>("points:"))
      try interface.allow(Message<NoResult, [String: Int]>("numbers:"))
    }
  }

  @Test("a message of more than 64 arguments is refused")
  func arguments() throws {
    var interface = Interface("many")
    for (count, isFine) in [(64, true), (65, false)] {
      let selector = try Selector(interning: "m" + String(repeating: ":", count: count))
      let signature = try MethodSignature(
        parsing: "v@:" + String(repeating: "i", count: count))
      if isFine {
        try interface.allow(selector, signature)
      } else {
        #expect(throws: InterfaceError.self) { try interface.allow(selector, signature) }
      }
    }
  }

  @Test("an interface whose name has more than 255 bytes allows no message")
  func longName() throws {
    let message = try Message<NoResult, Int32>("number:")
    let most = String(repeating: "é", count: 127) + "x"
    var fine = Interface(most)
    #expect(throws: Never.self) { try fine.allow(message) }
    for (name, given) in [(most + "y", 256), (most + "é", 257)] {
      var interface = Interface(name)
      #expect(throws: InterfaceError.nameTooLong(limit: 255, given: given)) {
        try interface.allow(message)
      }
      #expect(interface.name == name)
    }
  }

  @Test("a message cannot be allowed again with other types")
  func duplicates() throws {
    var interface = Interface("twice")
    try interface.allow(Message<NoResult, Int32>("number:"))
    try interface.allow(Message<NoResult, Int32>("number:"))
    #expect {
      try interface.allow(Message<NoResult, Int64>("number:"))
    } throws: {
      $0 as? InterfaceError
        == .duplicate(selector: "number:", expected: "v@:i", given: "v@:q")
    }
  }

  @Test("the names of structures are not compared, their members are")
  func spelling() throws {
    var interface = Interface("structures")
    try interface.allow("one:", MethodSignature("v@:{_Point=dd}"))
    try interface.allow("other:", MethodSignature("v@:n{?=dd}"))
    #expect(Set(interface.messages.map(\.encoding)) == ["v@:{=dd}"])
  }

  @Test("each of many messages is found by the front of its calls")
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

  @Test("the front of a call is checked against the limit, with the offset of the part beyond it")
  func front() throws {
    var limits = WireLimits()
    let message = try Message<NoResult, String>("order:")
    // 12 bytes of numbers, then "shop", "order:" and "v@:*".
    for (limit, given, offset) in [(20, 22, 16), (25, 26, 22), (26, 30, 26)] {
      limits.message = limit
      var shop = Interface("shop", limits: limits)
      try shop.allow(message)
      #expect(throws: WireError(.limit(limit, given: given), at: offset)) {
        try shop.encode(message.invocation("tea"))
      }
    }
  }

  @Test("limits apply to encoding and to decoding")
  func limits() throws {
    var limits = WireLimits()
    limits.text = 10
    limits.depth = 3
    let (small, large) = try (Listener.interface(limits: limits), Listener.interface())
    let text = try Message<NoResult, String?>("text:").invocation("more than ten")
    #expect {
      try small.encode(text)
    } throws: {
      ($0 as? WireError)?.reason == .limit(10, given: 13)
    }
    #expect {
      try small.decode(large.encode(text))
    } throws: {
      ($0 as? WireError)?.reason == .limit(10, given: 13)
    }
    var nested = Interface("nested", limits: limits)
    let message = try Message<NoResult, [[[[Int]]]]>("nested:")
    try nested.allow(message)
    #expect {
      try nested.encode(message.invocation([[[[1]]]]))
    } throws: {
      ($0 as? WireError)?.reason == .nestedTooDeeply(limit: 3)
    }
    var deeper = Interface("nested")
    try deeper.allow(message)
    #expect {
      try nested.decode(deeper.encode(message.invocation([[[[1]]]])))
    } throws: {
      ($0 as? WireError)?.reason == .nestedTooDeeply(limit: 3)
    }
    limits.message = 40
    let tiny = try Listener.interface(limits: limits)
    #expect {
      try tiny.decode([UInt8](repeating: 0, count: 41))
    } throws: {
      ($0 as? WireError)?.reason == .limit(40, given: 41)
    }
  }

  @Test("a value that its type refuses is an error with a reason")
  func values() throws {
    let interface = try Listener.interface()
    let bytes = try interface.encode(
      Message<NoResult, Point?>("point:").invocation(Point(x: 1, tags: [])))
    let json = Array(#"{"tags":[],"x":1}"#.utf8)
    #expect(Array(bytes.suffix(json.count)) == json)
    var other = bytes
    other[bytes.count - 2] = UInt8(ascii: "x")
    #expect {
      try interface.decode(other)
    } throws: {
      guard case .value? = ($0 as? WireError)?.reason else { return false }
      return true
    }
  }

  @Test("an invalid Bool, text that is not UTF-8, and a NUL in a C string are refused")
  func values2() throws {
    let interface = try Listener.interface()
    var bytes = try interface.encode(
      Message<NoResult, Int32, Double, Bool>("three:of:and:").invocation(1, 0.5, true))
    bytes[bytes.count - 1] = 2
    #expect {
      try interface.decode(bytes)
    } throws: {
      ($0 as? WireError)?.reason == .notBool(2) && ($0 as? WireError)?.offset == bytes.count - 1
    }
    bytes = try interface.encode(Message<NoResult, String?>("text:").invocation("abc"))
    bytes[bytes.count - 1] = 0xFF
    #expect(throws: WireError.self) { try interface.decode(bytes) }
    var native = Interface("listener")
    try native.allow("text:", MethodSignature("v@:*"))
    bytes[bytes.count - 1] = 0
    #expect {
      try native.decode(bytes)
    } throws: {
      ($0 as? WireError)?.reason == .embeddedNUL
    }
    #expect(throws: Never.self) { try interface.decode(bytes) }
  }
}
