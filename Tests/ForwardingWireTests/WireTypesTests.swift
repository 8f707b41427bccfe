// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import ForwardingWire
import Testing

@Suite("Decoding values by their encoding alone")
struct WireTypesTests {
  @Test("a process without the types prints the values that another process encoded")
  func printed() throws {
    let interface = try Listener.interface()
    for (call, _, texts, _) in try Listener.calls() {
      let bytes = try interface.encode(call)
      let message = try #require(interface.messages.first { $0.selector == call.selector })
      let arguments = Array(bytes[Fingerprint.size...])
      #expect(try WireTypes(message.encoding).arguments(arguments) == texts)
    }
  }

  @Test(
    "an encoding is refused that has types that cannot be sent, or parts without bytes",
    arguments: [
      "", "v", "v@:^v", "v@:@", "v@:(u=id)", "v@:{s=b3}", "v@:{s=[2000000000{e=}]}",
      "v@:" + String(repeating: "i", count: 65), "v@:{s}", "v@:{=}", "v@:^{=ii}",
      "v@:{s=[1000000000c]}", "v@:{s=c{=}}", "v@:{s=[32[32{T=c[0c]}]]}",
      "v@:{s=[50[100{T=S{e=}}]]}",
    ])
  func refused(encoding: String) {
    #expect(throws: WireError.self) { try WireTypes(encoding) }
  }

  @Test("the work for an encoding does not grow with the size of its values")
  func nestedWork() throws {
    let types = try WireTypes("v@:{s=[100[100{b=C}]]}")
    #expect(try types.arguments([UInt8](repeating: 7, count: 10_000)).count == 1)
    func cost(_ encoding: String) throws -> Double {
      try (0..<3).map { _ in try CPUTime.milliseconds { _ = try WireTypes(encoding) } }.min() ?? 0
    }
    let few = try cost("v@:{s=[1024{b=C}]}")
    #expect(try cost("v@:{s=[1024[1024{b=C}]]}") < 100 * few)
  }

  @Test("received JSON is printed in one line, without anything that a terminal interprets")
  func shownJSON() throws {
    let types = try WireTypes("v@:^{Some.Thing}")
    func value(_ json: String) throws -> String {
      let count = UInt8(json.utf8.count)
      return try types.arguments([count, 0, 0, 0] + Array(json.utf8))[0]
    }
    #expect(try value("[1,\n2]") == "[1, 2]")
    #expect(try value("\"\u{9B}31m\"") == "\"\\u009b31m\"")
    #expect(throws: WireError.self) { try value("\"\u{1B}[2J\"") }
    #expect(throws: WireError.self) { try value("[") }
    let deep = String(repeating: "[", count: 17) + String(repeating: "]", count: 17)
    #expect(throws: WireError.self) { try value(deep) }
    // Nor does an error about received bytes contain any of it.
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

  @Test("integers of all widths keep their signs")
  func integers() throws {
    let types = try WireTypes("v@:cCsSiIqQtT")
    let bytes = [UInt8](repeating: 0xFF, count: 2 + 4 + 8 + 16 + 32)
    let wide = [
      "-1", "255", "-1", "65535", "-1", "4294967295", "-1", "\(UInt64.max)", "-1", "\(UInt128.max)",
    ]
    #expect(try types.arguments(bytes) == wide)
    #expect(throws: WireError.self) { try types.arguments(Array(bytes.dropLast())) }
    #expect(throws: WireError.self) { try types.arguments(bytes + [0]) }
  }
}
