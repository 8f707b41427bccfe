// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Foundation
import Invocations
import Testing

@Suite("Limits")
struct WireLimitTests {
  @Test("a call is limited on both sides, with the offset of the part beyond the limit")
  func message() throws {
    let message = try Message<NoResult, String>("order:")
    func shop(_ limit: Int) throws -> Interface {
      var limits = WireLimits()
      limits.message = limit
      var shop = Interface("shop", limits: limits)
      try shop.allow(message)
      return shop
    }
    let tea = try message.invocation("tea")
    // 8 bytes of fingerprint, then 4 of length.
    for (limit, given, offset) in [(7, 8, 4), (11, 12, 8), (14, 15, 12)] {
      #expect(throws: WireError(.limit(limit, given: given), at: offset)) {
        try shop(limit).encode(tea)
      }
    }
    let bytes = try shop(15).encode(tea)
    #expect(bytes.count == 15)
    #expect(try shop(15).decode(bytes).argument(at: 2, as: String.self) == "tea")
    #expect(throws: WireError(.limit(14, given: 15), at: 0)) { try shop(14).decode(bytes) }
  }

  @Test("with any limits, however large or small, calls are encoded and decoded, or refused")
  func extremes() throws {
    let keep = try Message<String, String>("keep:")
    let grow = try Message<NoResult, Tree>("grow:")
    let count = try Message<NoResult, Int32>("count:")
    for value in [.max, .max - 1, .max / 4, 0, -1, .min] {
      for limit in [\WireLimits.message, \.text, \.depth] {
        var limits = WireLimits()
        limits[keyPath: limit] = value
        var interface = Interface("keeper", limits: limits)
        try? interface.allow(keep)
        try? interface.allow(grow)
        try? interface.allow(count)
        var written: [String] = []
        for call in [
          try keep.invocation("tea"), try grow.invocation(Tree(kids: [Tree()])),
          try count.invocation(5),
        ] {
          guard let bytes = try? interface.encode(call) else { continue }
          let other = try interface.decode(bytes)
          #expect(try interface.encode(other) == bytes)
          written.append(call.selector?.name ?? "")
        }
        // A text does not nest, and a number is not text.
        let expected: [String] =
          if value > 0 { ["keep:", "grow:", "count:"] } else if limit == \.text {
            ["count:"]
          } else if limit == \.depth { value == 0 ? ["keep:", "count:"] : ["keep:"] } else { [] }
        #expect(written == expected, "\(limit) \(value)")
        guard let message = interface.messages.first(where: { $0.selector == "keep:" }) else {
          continue
        }
        let call = try keep.invocation("tea")
        try call.setResult("milk")
        let result = try? interface.encodeResult(of: call, as: message)
        #expect((result != nil) == expected.contains("keep:"))
      }
    }
  }
}

@Suite("Depth and text of values")
struct WireDepthTests {
  private static let tree = try! Message<NoResult, Tree>("tree:")

  private static func interface() throws -> Interface {
    var interface = Interface("deep")
    try interface.allow(tree)
    return interface
  }

  /// A value of JSON as it is encoded.
  private func value(_ json: Data) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: json.count >> (8 * $0)) } + json
  }

  /// The bytes of a call of `tree:` with this JSON.
  private func call(_ json: Data) throws -> [UInt8] {
    let head = try Self.interface().encode(Self.tree.invocation(Tree())).prefix(Fingerprint.size)
    return head + value(json)
  }

  @Test(
    "JSON that is not UTF-8 is refused, as its depth would be counted wrongly",
    arguments: [
      String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian,
      .utf16,
    ])
  func otherEncodings(encoding: String.Encoding) throws {
    let inner = String(repeating: #"{"text":"","kids":["#, count: 40)
    let json = #"{"text":"\#u{2200}","kids":[\#(inner)\#(String(repeating: "]}", count: 40))]}"#
    let interface = try Self.interface()
    for text in [json, #"{"text":"","kids":[]}"#] {
      let bytes = try #require(text.data(using: encoding))
      #expect {
        try interface.decode(call(bytes))
      } throws: {
        ($0 as? WireError)?.reason == .notText
      }
      let types = try WireTypes("v@:^{Some.Thing}")
      #expect(throws: WireError.self) { try types.arguments(value(bytes)) }
    }
    #expect(throws: Never.self) { try interface.decode(call(Data(#"{"text":"","kids":[]}"#.utf8))) }
    #expect(throws: WireError.self) { try interface.decode(call(Data(json.utf8))) }
  }

  @Test("a value with endless nesting is refused before it is encoded")
  func deepValues() async throws {
    await #expect(processExitsWith: .success) {
      var deep = Tree()
      for _ in 0..<10_000 { deep = Tree(kids: [deep]) }
      do {
        _ = try Self.interface().encode(Self.tree.invocation(deep))
        exit(1)
      } catch let error as WireError {
        exit(error.reason == .nestedTooDeeply(limit: 16) ? 0 : 2)
      }
    }
  }

  /// Wraps another value as RawRepresentable types do, without a list in the JSON.
  struct Wrapped<Value: Codable & Sendable>: Codable, Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
    init(from decoder: any Decoder) throws {
      value = try decoder.singleValueContainer().decode(Value.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
  }

  struct Many: Codable, Sendable {
    var date = Date(timeIntervalSinceReferenceDate: 1)
    var data = Data([1, 2])
    var url = URL(string: "https://example.org")
    var decimal = Decimal(1) / 4
    var numbers: [String: [Int?]] = ["a": [1, nil]]
    var wide = Int128.max
    var others = [UInt128.max]
  }

  @Test("values that nest up to the limit are encoded, whatever they consist of")
  func shallowValues() throws {
    var interface = Interface("shallow")
    let wrapped = try Message<NoResult, Wrapped<Wrapped<Wrapped<[Int]>>>>("wrapped:")
    let many = try Message<NoResult, [Many]>("many:")
    try interface.allow(wrapped)
    try interface.allow(many)
    try interface.allow(Self.tree)
    #expect(throws: Never.self) {
      _ = try interface.encode(wrapped.invocation(Wrapped(Wrapped(Wrapped([1])))))
      _ = try interface.encode(many.invocation([Many(), Many()]))
    }
    #expect(throws: Never.self) { try interface.encode(Self.tree.invocation(.deep(8))) }
    #expect(throws: WireError.self) { try interface.encode(Self.tree.invocation(.deep(9))) }
  }
}
