// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Testing
import TypeEncodings

@testable import Invocations

@Suite("LongDouble")
struct LongDoubleTests {
  /// Numbers of each size, with both signs.
  static let numbers: [LongDouble] = {
    var texts = ["0", "1", "0.5", "3", "1e15", "1e-15", "0.1", "1e4000", "1e-4000", "1e-4940"]
    var random = SeededGenerator(seed: 27)
    for _ in 0..<200 { texts.append("\(random.next())e\(Int(random.next() % 9800) - 4930)") }
    return texts.flatMap { [LongDouble($0)!, LongDouble("-" + $0)!] }
  }()

  @Test("a value has the size and the alignment of the machine's long double")
  func layout() throws {
    let layout = try TypeEncoding(parsing: "D").layout
    #expect(MemoryLayout<LongDouble>.size == layout.size)
    #expect(MemoryLayout<LongDouble>.alignment == layout.alignment)
    #expect(LongDouble.typeEncoding == "D" && ComplexValue<LongDouble>.typeEncoding == "jD")
  }

  @Test("the bits are those of C")
  func bits() {
    let number = LongDouble(1.25)
    let bytes = (0..<16).map { UInt8(truncatingIfNeeded: number.bitPattern >> UInt128(8 * $0)) }
    #expect(bytes == TestMachine.longDouble1_25)
    #expect(LongDouble(bitPattern: number.bitPattern) == number)
    // What C leaves behind the last bit is not part of the number.
    let count = UInt128(8 * TestMachine.longDoubleBytes)
    if count < 128 {
      let padded = LongDouble(bitPattern: number.bitPattern | 0xEE << count)
      #expect(padded == number && padded.hashValue == number.hashValue)
      #expect(padded.bitPattern == number.bitPattern)
    }
  }

  @Test("a number's text reads back as the same number")
  func text() throws {
    for number in Self.numbers {
      #expect(try #require(LongDouble(number.description), "\(number)") == number)
    }
  }

  @Test(
    "a text is as Swift writes numbers, and in every locale",
    arguments: [
      ("0.1", "0.1"), ("1", "1.0"), ("-0", "-0.0"), ("100", "100.0"), ("12345.5", "12345.5"),
      ("0.0001", "0.0001"), ("0.00001", "1e-05"), ("123456789012345678", "123456789012345678.0"),
      ("1e40", "1e+40"), ("-1.5e300", "-1.5e+300"), ("inf", "inf"), ("-inf", "-inf"),
      ("nan", "nan"), ("1e9999", "inf"), ("0x1p-3", "0.125"), ("+7", "7.0"),
    ])
  func format(given: String, written: String) throws {
    #expect(try #require(LongDouble(given)).description == written)
  }

  @Test(
    "another text is no number",
    arguments: ["", " 1", "1 ", "1x", "0,1", "1\0", "\n1", "é", "--1", "1e", "0x"])
  func noNumber(text: String) { #expect(LongDouble(text) == nil) }

  @Test("every Double is exact, and so are 64-bit integers")
  func exact() throws {
    for value in [
      0.1, -.pi, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e300, -.infinity, -0.0,
    ] {
      #expect(Double(LongDouble(value)) == value)
    }
    for value in [Int64.min, .max, -1, 0, 1 << 53 + 1] {
      let number = try #require(LongDouble(exactly: value))
      #expect(number.description == LongDouble("\(value)")?.description)
    }
    #expect(LongDouble(exactly: UInt64.max) == LongDouble("18446744073709551615"))
    #expect(LongDouble(exactly: Int128.max) == nil)
    let tenth = try #require(LongDouble("0.1"))
    #expect(Double(tenth) == 0.1)
    #expect(tenth != LongDouble(0.1))
    #expect(Double(LongDouble("1e4000")!) == .infinity)
  }

  @Test("a long double is passed to C and returned, alone and as the parts of a complex number")
  func called() throws {
    let (call, function) = try Fixtures.call("m_long_doubles")
    let number = LongDouble(1.25)
    for index in 0..<3 {
      try call.setArgument(Int8(1), at: 2 + 2 * index)
      try call.setArgument(number, at: 3 + 2 * index)
      #expect(try call.argument(at: 3 + 2 * index, as: LongDouble.self) == number)
    }
    try call.invoke(using: function)
    #expect(try call.result(as: LongDouble.self) == LongDouble(3.75))
    #expect(call.invokeThroughLibffi(using: function))
    #expect(try call.result(as: LongDouble.self) == LongDouble(3.75))

    let functions = FunctionTable()
    try functions.register("echo") { (value: ComplexValue<LongDouble>) in value }
    let tenths = ComplexValue(LongDouble("0.1")!, LongDouble("-0.1")!)
    #expect(try functions.call("echo", tenths, returning: ComplexValue<LongDouble>.self) == tenths)
    try unsafe functions.register("sqrtl", encoding: "DD", unsafeSymbolIn: Library("libm.so.6"))
    let root = try functions.call("sqrtl", LongDouble(4.0), returning: LongDouble.self)
    #expect(root == LongDouble(2.0))
  }

  @Test("a number is set exactly, or refused")
  func exactly() throws {
    let call = try Invocation(parsing: "vD")
    try call.setArgument(exactly: UInt64.max, at: 0)
    #expect(try call.argument(at: 0, as: LongDouble.self) == LongDouble(exactly: UInt64.max))
    #expect(throws: InvocationError.self) { try call.setArgument(exactly: Int128.max, at: 0) }
  }

  @Test("texts are written and read with a point, whatever the program's locale is")
  func locale() async {
    await #expect(processExitsWith: .success) {
      // Any locale with a comma; without one, the test shows only that nothing goes wrong.
      for name in ["de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"] where setlocale(LC_ALL, name) != nil {
        break
      }
      try #require(LongDouble("0.5")?.description == "0.5")
      try #require(LongDouble("0,5") == nil)
    }
  }
}
