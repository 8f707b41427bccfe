// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
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

  @Test("texts, and the depth of values, are limited on both sides")
  func values() throws {
    var limits = WireLimits()
    (limits.text, limits.depth) = (10, 3)
    let text = try Message<NoResult, String?>("text:")
    let nested = try Message<NoResult, [[[[Int]]]]>("nested:")
    func interface(_ limits: WireLimits) throws -> Interface {
      var interface = Interface("limited", limits: limits)
      try interface.allow(text)
      try interface.allow(nested)
      return interface
    }
    let (small, large) = try (interface(limits), interface(WireLimits()))
    for (call, reason) in try [
      (text.invocation("more than ten"), WireError.Reason.limit(10, given: 13)),
      (nested.invocation([[[[1]]]]), .nestedTooDeeply(limit: 3)),
    ] {
      let bytes = try large.encode(call)
      #expect(#expect(throws: WireError.self) { try small.encode(call) }?.reason == reason)
      #expect(#expect(throws: WireError.self) { try small.decode(bytes) }?.reason == reason)
    }
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
