// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Foundation
import Invocations
import Testing

@Suite("Depth and text of values")
struct WireDepthTests {
  indirect enum Chain: Codable, Sendable {
    case end
    case more(Chain)
  }

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
      let chain = try Message<NoResult, Chain>("chain:")
      var interface = Interface("deep")
      try interface.allow(chain)
      var deep = Chain.end
      for _ in 0..<10_000 { deep = .more(deep) }
      do {
        _ = try interface.encode(chain.invocation(deep))
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

  @Test("an error about received bytes contains nothing that a terminal interprets")
  func errors() throws {
    let names = ["\u{1B}[2J", "\u{9B}31m", "a\nb\u{7}"]
    for name in names {
      let error = #expect(throws: WireError.self) {
        try WireTypes("v@:^{\(name)}").arguments([1, 0, 0, 0, 0x5D])
      }
      for text in [
        error?.description ?? "", WireError(.unknownSelector(name), at: 0).description,
      ] {
        let controls = text.unicodeScalars.filter { $0.properties.generalCategory == .control }
        #expect(controls.isEmpty && !text.isEmpty)
      }
    }
  }
}
