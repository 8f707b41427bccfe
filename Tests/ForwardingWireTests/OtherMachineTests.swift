// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import ForwardingWire
import Testing

@Suite("Calls encoded on another machine")
struct OtherMachineTests {
  /// Each call as a line of hexadecimal digits.
  private static func lines() throws -> String {
    let interface = try Listener.interface()
    return try Listener.calls().map { call, _ in
      try interface.encode(call).map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }.joined()
    }.joined(separator: "\n") + "\n"
  }

  @Test("the bytes of every machine are the same, and each call does the same here")
  func decoded() throws {
    let own = try Self.lines()
    let interface = try Listener.interface()
    for (machine, bytes) in try MachineFiles.all("wire", own: Array(own.utf8)) {
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text == own, "\(machine)")
      for (line, (_, expected)) in zip(text.split(separator: "\n"), try Listener.calls()) {
        let digits = Array(line.utf8)
        let call = stride(from: 0, to: digits.count, by: 2).compactMap { index in
          UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)
        }
        let listener = Listener()
        try interface.decode(call).invoke(on: listener)
        #expect(listener.heard == [expected], "\(machine)")
      }
    }
  }
}
