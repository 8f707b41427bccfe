// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Testing

@Suite("Extreme limits")
struct WireLimitTests {
  private struct Tree: Codable, Sendable {
    var kids: [Tree] = []
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
        let call = try keep.invocation("tea")
        try call.setResult("milk")
        let result = try? interface.encodeResult(of: call)
        #expect((result != nil) == expected.contains("keep:"))
      }
    }
  }
}
