// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Testing

@Suite("Encoded calls")
struct WireCallTests {
  @Test("a decoded call does the same as the call that was encoded")
  func roundTrip() throws {
    let interface = try Listener.interface()
    for (call, expected) in try Listener.calls() {
      let bytes = try interface.encode(call)
      let listener = Listener()
      try interface.decode(bytes).invoke(on: listener)
      #expect(listener.heard == [expected])
      #expect(try interface.encode(interface.decode(bytes)) == bytes)
    }
  }

  @Test("a decoded result equals the one that was encoded")
  func results() throws {
    let ask = try Message<String?, Int32>("ask:")
    var interface = Interface("asking")
    try interface.allow(ask)
    for answer in ["yes", nil] as [String?] {
      let (call, other) = try (ask.invocation(1), ask.invocation(1))
      #expect(throws: WireError.self) { try interface.encodeResult(of: call) }
      try call.setResult(answer)
      try interface.decodeResult(try interface.encodeResult(of: call), into: other)
      #expect(try other.result(as: String?.self) == answer)
    }
  }

  @Test("values of zero size can be sent in any place")
  func empty() throws {
    let message = try Message<Void, Point, Nothing, Nothing>("point:nothing:again:")
    var interface = Interface("empty")
    try interface.allow(message)
    try interface.allow(Message<Nothing, Nothing>("nothing:"))
    let (target, heard) = (ClosureTarget(), Guarded<[Double]>([]))
    try target.register("point:nothing:again:") { (point: Point, _: Nothing, _: Nothing) in
      heard.withLock { $0.append(point.x) }
    }
    let call = try message.invocation(Point(x: 7), Nothing(), Nothing())
    try interface.decode(try interface.encode(call)).invoke(on: target)
    #expect(heard.read { $0 } == [7])
    let (asked, other) = try (
      Message<Nothing, Nothing>("nothing:").invocation(Nothing()),
      Message<Nothing, Nothing>("nothing:").invocation(Nothing())
    )
    try asked.setResult(Nothing())
    try interface.decodeResult(try interface.encodeResult(of: asked), into: other)
    #expect(try other.result(as: Nothing.self) == Nothing())
  }

  @Test("no byte of the padding between the members of a structure is encoded")
  func padding() throws {
    let interface = try Listener.interface()
    let message = try Message<NoResult, Pair>("pair:")
    let bytes = try interface.encode(message.invocation(Pair(one: 7, other: 9)))
    // One byte and eight, of a structure of 16.
    #expect(Array(bytes.suffix(9)) == [7, 9, 0, 0, 0, 0, 0, 0, 0])
    #expect(
      bytes.count == 12 + "listener".utf8.count + "pair:".utf8.count + "v@:{=cq}".utf8.count + 9)
  }

  @Test("every prefix of a call is refused, and every call with further bytes")
  func lengths() throws {
    let interface = try Listener.interface()
    for (call, _) in try Listener.calls() {
      let bytes = try interface.encode(call)
      for count in bytes.indices {
        #expect(throws: WireError.self) { try interface.decode(Array(bytes[..<count])) }
      }
      #expect(throws: WireError.self) { try interface.decode(bytes + [0]) }
    }
  }

  @Test("a name or an encoding that differs in one byte is refused, with both spellings")
  func encodings() throws {
    let interface = try Listener.interface()
    let call = try Message<NoResult, Int32>("number:").invocation(1)
    let bytes = try interface.encode(call)
    var other = bytes
    other[bytes.count - 5] = UInt8(ascii: "I")
    #expect {
      try interface.decode(other)
    } throws: {
      ($0 as? WireError)?.reason
        == .encoding(selector: "number:", expected: "v@:i", given: "v@:I")
    }
    other = bytes
    other[20] = UInt8(ascii: "N")
    let before = Selector(existing: "Number:")
    #expect {
      try interface.decode(other)
    } throws: {
      ($0 as? WireError)?.reason == .unknownSelector("Number:")
    }
    #expect(before == nil && Selector(existing: "Number:") == nil, "names are not interned")
    other = bytes
    other[12] = UInt8(ascii: "L")
    #expect {
      try interface.decode(other)
    } throws: {
      ($0 as? WireError)?.reason == .interface(expected: "listener", given: "Listener")
    }
    other = bytes
    other[0] = 2
    #expect {
      try interface.decode(other)
    } throws: {
      ($0 as? WireError)?.reason == .version(expected: 1, given: 2)
    }
  }

  @Test("a length beyond the end is refused without an allocation")
  func lengthField() throws {
    let interface = try Listener.interface()
    let bytes = try interface.encode(
      Message<NoResult, [UInt8]>("bytes:").invocation([1, 2, 3]))
    var other = bytes
    for (index, byte) in [0xFF, 0xFF, 0xFF, 0xFF].enumerated() {
      other[bytes.count - 7 + index] = UInt8(byte)
    }
    #expect(throws: WireError.self) { try interface.decode(other) }
    other = bytes
    for index in 8..<12 { other[index] = 0xFF }
    #expect(throws: WireError.self) { try interface.decode(other) }
  }
}
