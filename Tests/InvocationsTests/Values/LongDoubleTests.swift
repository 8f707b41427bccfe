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
    var numbers: [LongDouble] = [
      0, 1, 0.5, 3, 1e15, 1e-15, .pi, LongDouble("0.1")!, LongDouble("1e4000")!,
      LongDouble("1e-4000")!, .greatestFiniteMagnitude, .leastNormalMagnitude,
      .leastNonzeroMagnitude, .ulpOfOne, LongDouble(UInt64.max), LongDouble(Double.pi),
      LongDouble(sign: .plus, exponent: 63, significand: 1),
      LongDouble(sign: .plus, exponent: 113, significand: 1),
    ]
    var random = SeededGenerator(seed: 27)
    for _ in 0..<200 {
      let bits = UInt128(random.next()) << 64 | UInt128(random.next())
      let number = LongDouble(
        sign: .plus, exponentBitPattern: UInt(truncatingIfNeeded: random.next()),
        significandBitPattern: bits)
      if number.isFinite { numbers.append(number) }
    }
    return numbers + numbers.map { -$0 }
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
      let again = try #require(LongDouble(number.description), "\(number)")
      #expect(again.bitPattern == number.bitPattern, "\(number)")
    }
  }

  @Test(
    "a text is as Swift writes numbers, and in every locale",
    arguments: [
      ("0.1", "0.1"), ("1", "1.0"), ("-0", "-0.0"), ("100", "100.0"), ("12345.5", "12345.5"),
      ("0.0001", "0.0001"), ("0.00001", "1e-05"), ("1e19", "10000000000000000000.0"),
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

  @Test("a text has more digits than a Double, a literal as many")
  func digits() throws {
    let text = try #require(LongDouble("0.1"))
    let literal: LongDouble = 0.1
    #expect(text != literal && literal == LongDouble(0.1 as Double))
    #expect(abs(text - literal) < 1e-17)
    #expect(Double(text) == 0.1)
  }

  @Test("a conversion to a smaller type says what it loses")
  func lost() {
    for number in Self.numbers {
      func check<Number: BinaryFloatingPoint>(_ type: Number.Type) {
        let (value, lost) = number.rounded(to: type)
        #expect(value == Number(number))
        if value.isFinite {
          #expect(LongDouble(value) + lost == number, "\(number)")
          #expect((lost == 0) == (Number(exactly: number) != nil), "\(number)")
        } else {
          #expect(lost == (number > 0 ? -.infinity : .infinity))
        }
      }
      check(Double.self)
      check(Float.self)
      check(LongDouble.self)
    }
  }

  @Test("infinities lose nothing, and a NaN stays one")
  func special() {
    #expect(LongDouble.infinity.rounded(to: Double.self) == (.infinity, 0))
    #expect((-LongDouble.infinity).rounded(to: Float.self) == (-.infinity, 0))
    let (value, lost) = LongDouble.nan.rounded(to: Double.self)
    #expect(value.isNaN && lost.isNaN)
    let strange = LongDouble.nan
    #expect(!(strange == strange) && LongDouble(Double.nan).isNaN)
    #expect(LongDouble.signalingNaN.isSignalingNaN && !LongDouble.nan.isSignalingNaN)
    #expect(Double(exactly: LongDouble.nan) == nil && LongDouble(exactly: Double.nan) == nil)
  }

  @Test("every Double is exact, and so are 64-bit integers")
  func exact() {
    for value in [
      0.1, -.pi, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e300, -.infinity, -0.0,
    ] {
      #expect(Double(LongDouble(value)) == value)
      #expect(Double(exactly: LongDouble(value)) == value)
      #expect(LongDouble(exactly: value) == LongDouble(value))
      #expect(LongDouble(value).sign == value.sign)
    }
    for value in [Int64.min, .max, -1, 0, 1 << 53 + 1] {
      #expect(LongDouble(exactly: value).flatMap { Int64(exactly: $0) } == value)
    }
    #expect(UInt64(exactly: LongDouble(UInt64.max)) == .max)
    // More bits than the significand has.
    let count = LongDouble.significandBitCount
    #expect(LongDouble(exactly: UInt128(1) << (count + 1) + 1) == nil)
    #expect(LongDouble(exactly: Int128.max) == nil)
  }

  @Test("arithmetic is that of C: rounded once, to even")
  func arithmetic() throws {
    let third: LongDouble = 1 / 3
    #expect(third * 3 == 1 && third + third + third == 1)
    #expect(Double(third) == 1.0 / 3)
    #expect(third != LongDouble(1.0 / 3))
    #expect(LongDouble(2).squareRoot() * LongDouble(2).squareRoot() != 2)
    #expect(Double(LongDouble(2).squareRoot()) == 2.0.squareRoot())
    #expect(LongDouble(7).truncatingRemainder(dividingBy: 4) == 3)
    #expect(LongDouble(7).remainder(dividingBy: 4) == -1)
    #expect((LongDouble(1) + .ulpOfOne).addingProduct(-1, 1) == .ulpOfOne)
    #expect(LongDouble(1).nextUp == 1 + .ulpOfOne && LongDouble(1).nextDown < 1)
    #expect(LongDouble.leastNonzeroMagnitude.nextDown == 0)
    #expect(LongDouble.infinity.nextUp == .infinity)
    #expect(LongDouble.greatestFiniteMagnitude * 2 == .infinity && (0 / LongDouble(0)).isNaN)
    #expect(LongDouble.pi > LongDouble(Double.pi))
    #expect(LongDouble.pi.description.hasPrefix("3.14159265358979323"))
    var sorted: [LongDouble] = [3, -.infinity, 0.5, -2]
    sorted.sort()
    #expect(sorted == [-.infinity, -2, 0.5, 3])
    #expect(Set<LongDouble>([0.0, -0.0, 1, 1]).count == 2)
    #expect(Array(stride(from: LongDouble(0), to: 1, by: 0.25)).count == 4)
  }

  @Test(
    "each rule rounds as for a Double",
    arguments: [
      -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.4, -2.6, 0, -0.0, 1e300, 0.1, -0.1, .infinity,
      4_503_599_627_370_497.5,
    ])
  func rounding(value: Double) {
    let rules: [FloatingPointRoundingRule] = [
      .up, .down, .towardZero, .awayFromZero, .toNearestOrEven, .toNearestOrAwayFromZero,
    ]
    for rule in rules {
      let rounded = LongDouble(value).rounded(rule)
      #expect(Double(rounded) == value.rounded(rule), "\(rule)")
      #expect(rounded.sign == value.rounded(rule).sign, "\(rule)")
    }
  }

  @Test("a number is the product of its parts")
  func parts() {
    for number in Self.numbers {
      guard !number.isZero else { continue }
      let again = LongDouble(
        sign: number.sign, exponent: number.exponent, significand: number.significand)
      #expect(again.bitPattern == number.bitPattern)
      #expect(number.significand >= 1 && number.significand < 2)
      #expect(
        LongDouble(
          sign: number.sign, exponentBitPattern: number.exponentBitPattern,
          significandBitPattern: number.significandBitPattern
        ).bitPattern == number.bitPattern)
      #expect(number.isCanonical && number.magnitude > 0 && -(-number) == number)
      #expect(number.isNormal != number.isSubnormal)
      #expect(number.magnitude + number.ulp > number.magnitude)
      #expect(number.binade.magnitude <= number.magnitude)
      #expect((0...LongDouble.significandBitCount).contains(number.significandWidth))
    }
  }

  @Test("a long double is passed to C and returned, alone and as the parts of a complex number")
  func called() throws {
    let (call, function) = try Fixtures.call("m_long_doubles")
    let tenth = try #require(LongDouble("0.1"))
    for index in 0..<3 {
      try call.setArgument(Int8(1), at: 2 + 2 * index)
      try call.setArgument(tenth, at: 3 + 2 * index)
      #expect(try call.argument(at: 3 + 2 * index, as: LongDouble.self) == tenth)
    }
    try call.invoke(using: function)
    #expect(try call.result(as: LongDouble.self) == tenth + tenth + tenth)
    call.invokeThroughLibffi(using: function)
    #expect(try call.result(as: LongDouble.self) == tenth + tenth + tenth)

    let functions = FunctionTable()
    try functions.register("echo") { (value: ComplexValue<LongDouble>) in value }
    let value = ComplexValue(tenth, -tenth)
    #expect(try functions.call("echo", value, returning: ComplexValue<LongDouble>.self) == value)
    try unsafe functions.register("sqrtl", encoding: "DD", unsafeSymbolIn: Library("libm.so.6"))
    let root = try functions.call("sqrtl", LongDouble(2), returning: LongDouble.self)
    #expect(root == LongDouble(2).squareRoot())
  }

  @Test("a number is set exactly, or refused")
  func exactly() throws {
    let call = try Invocation(parsing: "vDdfq")
    try call.setArgument(exactly: 0.1, at: 0)
    #expect(try call.argument(at: 0, as: LongDouble.self) == LongDouble(0.1 as Double))
    try call.setArgument(exactly: UInt64.max, at: 0)
    #expect(try call.argument(at: 0, as: LongDouble.self) == LongDouble(UInt64.max))
    let tenth = try #require(LongDouble("0.1"))
    try call.setArgument(exactly: tenth, at: 0)
    #expect(try call.argument(at: 0, as: LongDouble.self) == tenth)
    for index in 1...3 {
      try call.setArgument(exactly: LongDouble(-3), at: index)
      #expect(throws: InvocationError.self) { try call.setArgument(exactly: tenth, at: index) }
    }
    #expect(try call.argument(at: 3, as: Int64.self) == -3)
    #expect(throws: InvocationError.self) { try call.setArgument(exactly: Int128.max, at: 0) }
    #expect(throws: InvocationError.self) { try call.setArgument(exactly: Double.nan, at: 0) }
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
