// SPDX-License-Identifier: Apache-2.0
import TypeEncodings
import Testing

@testable import Invocations

/// A structure of `count` bytes.
private struct Bytes<let count: Int>: CallStructure, Equatable {
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
  /// Sets a value, reads it back, and sends it through a function that returns it.
  private func check<let count: Int>(_: Bytes<count>.Type) throws {
    let echo = try Callback { (a: Int32, value: Bytes<count>, b: Double) -> Bytes<count> in
      #expect(a == 3, "\(count) bytes")
      #expect(b == 4.5, "\(count) bytes")
      return value
    }
    let call = Invocation(echo.plan)
    try call.setArgument(Int32(3), at: 0)
    try call.setArgument(4.5, at: 2)
    for seed in 1...3 {
      let value = Bytes<count>(seed)
      try call.setArgument(value, at: 1)
      #expect(try call.argument(at: 1, as: Bytes<count>.self) == value, "\(count) bytes")
      // The neighbouring arguments are unchanged.
      #expect(try call.argument(at: 0, as: Int32.self) == 3, "\(count) bytes")
      #expect(try call.argument(at: 2, as: Double.self) == 4.5, "\(count) bytes")
      unsafe try call.invoke(using: echo.address)
      #expect(try call.result(as: Bytes<count>.self) == value, "\(count) bytes")
    }
    withExtendedLifetime(echo) {}
  }

  @Test("every byte is passed and returned")
  func everyByte() throws {
    try check(Bytes<1>.self)
    try check(Bytes<3>.self)
    try check(Bytes<7>.self)
    try check(Bytes<8>.self)
    try check(Bytes<9>.self)
    try check(Bytes<12>.self)
    try check(Bytes<15>.self)
    try check(Bytes<16>.self)
    try check(Bytes<17>.self)
    try check(Bytes<23>.self)
    try check(Bytes<24>.self)
    try check(Bytes<25>.self)
    try check(Bytes<31>.self)
    try check(Bytes<32>.self)
    try check(Bytes<33>.self)
    try check(Bytes<40>.self)
    try check(Bytes<47>.self)
    try check(Bytes<48>.self)
    try check(Bytes<63>.self)
    try check(Bytes<64>.self)
    try check(Bytes<100>.self)
    try check(Bytes<1000>.self)
  }
}
