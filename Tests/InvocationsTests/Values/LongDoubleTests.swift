// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Invocations
import Testing
import TypeEncodings

@Suite("LongDouble")
struct LongDoubleTests {
  @Test("size, alignment and bits are those of C; padding is not part of a number")
  func layout() throws {
    let layout = try TypeEncoding(parsing: "D").layout
    #expect(MemoryLayout<LongDouble>.size == layout.size)
    #expect(MemoryLayout<LongDouble>.alignment == layout.alignment)
    #expect(LongDouble.typeEncoding == "D" && ComplexValue<LongDouble>.typeEncoding == "jD")
    let number = LongDouble(1.25)
    let bytes = (0..<16).map { UInt8(truncatingIfNeeded: number.bitPattern >> UInt128(8 * $0)) }
    #expect(bytes == TestMachine.longDouble1_25)
    #expect(LongDouble(bitPattern: number.bitPattern) == number)
    // What C leaves behind the last bit.
    let count = UInt128(8 * TestMachine.longDoubleBytes)
    if count < 128 {
      let padded = LongDouble(bitPattern: number.bitPattern | 0xEE << count)
      #expect(padded == number && padded.hashValue == number.hashValue)
      #expect(padded.bitPattern == number.bitPattern)
    }
  }

  @Test("padding is zero, as argument and as result", arguments: ["DD", "jDjD"])
  func padding(encoding: String) throws {
    let call = try Invocation(parsing: encoding)
    let size = try call.methodSignature.resultLength
    try call.setArgument(bytes: [UInt8](repeating: 0x3F, count: size), at: 0)
    try call.setResult(bytes: [UInt8](repeating: 0x3F, count: size))
    let expected = (0..<size).map { UInt8($0 % 16 < TestMachine.longDoubleBytes ? 0x3F : 0) }
    #expect(try call.argumentBytes(at: 0) == expected)
    #expect(try call.resultBytes() == expected)
  }

  @Test("the text of a number of any size and sign reads back as the same number")
  func text() throws {
    var texts = ["0", "1", "0.5", "3", "1e15", "1e-15", "0.1", "1e4000", "1e-4000", "1e-4940"]
    var random = SeededGenerator(seed: 27)
    for _ in 0..<200 { texts.append("\(random.next())e\(Int(random.next() % 9800) - 4930)") }
    for text in texts.flatMap({ [$0, "-" + $0] }) {
      let number = try #require(LongDouble(text))
      #expect(try #require(LongDouble(number.description), "\(number)") == number)
    }
  }

  @Test(
    "a text is as Swift writes numbers, or is no number",
    arguments: [
      ("0.1", "0.1"), ("1", "1.0"), ("-0", "-0.0"), ("100", "100.0"), ("12345.5", "12345.5"),
      ("0.0001", "0.0001"), ("0.00001", "1e-05"), ("123456789012345678", "123456789012345678.0"),
      ("1e40", "1e+40"), ("-1.5e300", "-1.5e+300"), ("inf", "inf"), ("-inf", "-inf"),
      ("nan", "nan"), ("1e9999", "inf"), ("0x1p-3", "0.125"), ("+7", "7.0"), ("", nil),
      (" 1", nil), ("1 ", nil), ("1x", nil), ("0,1", nil), ("1\0", nil), ("\n1", nil), ("é", nil),
      ("--1", nil), ("1e", nil), ("0x", nil),
    ] as [(String, String?)])
  func format(given: String, written: String?) {
    #expect(LongDouble(given)?.description == written)
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

  @Test("every Double is exact, and so are 64-bit integers")
  func exact() throws {
    for value in [
      0.1, -.pi, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e300, -.infinity, -0.0,
    ] {
      #expect(Double(LongDouble(value)) == value)
    }
    let tenth = try #require(LongDouble("0.1"))
    #expect(Double(tenth) == 0.1 && tenth != LongDouble(0.1))
    #expect(Double(LongDouble("1e4000")!) == .infinity)
    let call = try Invocation(parsing: "vD")
    let integers: [Int128] = [
      Int128(Int64.min), Int128(Int64.max), Int128(UInt64.max), -1, 0, 1 << 53 + 1,
    ]
    for value in integers {
      try call.setArgument(exactly: value, at: 0)
      #expect(try call.argument(at: 0, as: LongDouble.self) == LongDouble("\(value)"))
    }
    #expect(throws: InvocationError.self) { try call.setArgument(exactly: Int128.max, at: 0) }
  }

  @Test("a long double is passed to C and returned, alone and as the parts of a complex number")
  func called() throws {
    let (call, function) = try Fixtures.call("m_long_doubles")
    for index in 0..<3 {
      try call.setArgument(Int8(1), at: 2 + 2 * index)
      try call.setArgument(LongDouble(1.25), at: 3 + 2 * index)
      #expect(try call.argument(at: 3 + 2 * index, as: LongDouble.self) == LongDouble(1.25))
    }
    try call.invoke(using: function)
    #expect(try call.result(as: LongDouble.self) == LongDouble(3.75))
    #expect(call.invokeThroughLibffi(using: function))
    #expect(try call.result(as: LongDouble.self) == LongDouble(3.75))

    let functions = try FunctionTable(ofProgram: ["sqrtl": "DD"])
    try functions.register("echo") { (value: ComplexValue<LongDouble>) in value }
    let tenths = ComplexValue(LongDouble("0.1")!, LongDouble("-0.1")!)
    #expect(try functions.call("echo", tenths, returning: ComplexValue<LongDouble>.self) == tenths)
    let root = try functions.call("sqrtl", LongDouble(4.0), returning: LongDouble.self)
    #expect(root == LongDouble(2.0))
  }
}
