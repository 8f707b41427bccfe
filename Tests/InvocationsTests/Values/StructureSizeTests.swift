// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Invocations
import Testing
import TypeEncodings

private protocol Sized: CallStructure, Equatable {
  init(_ seed: Int)
}

/// A structure of `count` bytes.
private struct Bytes<let count: Int>: Sized {
  var bytes: InlineArray<count, UInt8>

  static var structure: VouchedStructure<Self> { VouchedStructure("{Bytes=[\(count)C]}") }

  /// Different bytes for each `seed`, none of them zero.
  init(_ seed: Int) { bytes = InlineArray { UInt8(($0 &* 7 &+ seed) & 0x7F) | 1 } }

  static func == (a: Self, b: Self) -> Bool {
    (0..<count).allSatisfy { a.bytes[$0] == b.bytes[$0] }
  }
}

@Suite("Structures of every size")
struct StructureSizeTests {
  private static let sizes: [any Sized.Type] = [
    Bytes<1>.self, Bytes<3>.self, Bytes<7>.self, Bytes<8>.self, Bytes<9>.self, Bytes<12>.self,
    Bytes<15>.self, Bytes<16>.self, Bytes<17>.self, Bytes<23>.self, Bytes<24>.self,
    Bytes<25>.self, Bytes<31>.self, Bytes<32>.self, Bytes<33>.self, Bytes<40>.self,
    Bytes<47>.self, Bytes<48>.self, Bytes<63>.self, Bytes<64>.self, Bytes<100>.self,
    Bytes<1000>.self,
  ]

  @Test("every byte is passed and returned, and the neighbouring arguments are unchanged")
  func everyByte() throws {
    func check<Value: Sized>(_: Value.Type) throws {
      let echo = try Callback { (a: Int32, value: Value, b: Double) -> Value in
        #expect(a == 3 && b == 4.5, "\(Value.self)")
        return value
      }
      let call = Invocation(echo.plan)
      try call.setArgument(Int32(3), at: 0)
      try call.setArgument(4.5, at: 2)
      for seed in 1...3 {
        let value = Value(seed)
        try call.setArgument(value, at: 1)
        #expect(try call.argument(at: 1, as: Value.self) == value)
        #expect(try call.argument(at: 0, as: Int32.self) == 3, "\(Value.self)")
        #expect(try call.argument(at: 2, as: Double.self) == 4.5, "\(Value.self)")
        unsafe try call.invoke(using: echo.address)
        #expect(try call.result(as: Value.self) == value)
      }
      withExtendedLifetime(echo) {}
    }
    for size in Self.sizes { try check(size) }
  }

  @Test(
    "results of every kind are returned, however many words are passed on the stack",
    arguments: [65, 66, 511, 512, 513, 2000])
  func results(words: Int) throws {
    let argument = (0..<8 * words).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let long = TestMachine.longDouble1_25
    var results = ["v": [], "D": long, "jD": long + long]
    for (result, size) in [
      ("q", 8), ("d", 8), ("{P=qq}", 16), ("{P=dd}", 16), ("{P=qd}", 16), ("{P=dq}", 16),
      ("{P=ddd}", 24),
    ] { results[result] = (0..<size).map { UInt8($0 + 1) } }
    for (result, bytes) in results {
      let callback = try Callback(MethodSignature(parsing: "\(result)d{W=[\(words)q]}q")) { call in
        #expect(try call.argument(at: 0, as: Double.self) == 1.5)
        #expect(try call.argumentBytes(at: 1) == argument)
        #expect(try call.argument(at: 2, as: Int64.self) == -3)
        try call.setResult(bytes: bytes)
      }
      let call = Invocation(callback.plan)
      try call.setArgument(1.5, at: 0)
      try call.setArgument(bytes: argument, at: 1)
      try call.setArgument(Int64(-3), at: 2)
      try call.invoke(using: callback.address)
      withExtendedLifetime(callback) {}
      if result != "v" { #expect(try call.resultBytes() == bytes, "\(result)") }
    }
  }
}
