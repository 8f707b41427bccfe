// SPDX-License-Identifier: Apache-2.0
// The type exists on x86 alone, so this file is empty elsewhere. Its twin is LongDoubleTests.
#if arch(x86_64)
  import ForwardingTestSupport
  import Invocations
  import Testing

  @Suite("On x86-64, Float80 is a long double too")
  struct Float80Tests {
    @Test("a Float80 fits a D, as argument, result and part of a complex number")
    func fits() throws {
      let functions = FunctionTable()
      try functions.register("twice") { (value: Float80) in 2 * value }
      #expect(try functions.call("twice", Float80(0.1), returning: Float80.self) == 2 * 0.1)
      #expect(try functions.call("twice", LongDouble(1.0), returning: Float80.self) == 2)
      try functions.register("same") { (value: ComplexValue<Float80>) in value }
      let value = ComplexValue<Float80>(3, 4)
      #expect(try functions.call("same", value, returning: ComplexValue<Float80>.self) == value)
    }

    @Test("a callback in Swift's own convention gets a Float80, more often than x87 has registers")
    func callback() throws {
      let callback = try Callback { (value: Float80) -> Float80 in 2 * value }
      let function = callback.pointer.function(as: (@convention(c) (Float80) -> Float80).self)
      for _ in 0..<20 { #expect(function(1.5) == 3) }
      withExtendedLifetime(callback) {}
    }

    @Test("a LongDouble is the same number: bits, parts and text")
    func equals() throws {
      var random = SeededGenerator(seed: 80)
      for _ in 0..<2_000 {
        let number = Float80(
          sign: .plus, exponentBitPattern: UInt(truncatingIfNeeded: random.next() % 32767),
          significandBitPattern: random.next() >> 1)
        let long = LongDouble(number)
        let bytes = withUnsafeBytes(of: number) { Array($0.prefix(10)) }
        let bits = (0..<10).map { UInt8(truncatingIfNeeded: long.bitPattern >> UInt128(8 * $0)) }
        #expect(bits == bytes)
        #expect(Float80(long) == number && LongDouble("\(number)") == long)
        #expect(Double(long) == Double(number))
      }
    }
  }
#endif
