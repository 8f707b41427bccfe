// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import ForwardingTestSupport
import Testing
import TypeEncodings

@testable import Invocations

@Suite("Conformance: the ABI and invocations (areas ABI and INV)")
struct InvocationConformanceTests {
  @Test("every row of the table is checked, or has the reason that it does not apply")
  func complete() throws {
    #expect(try Self.table.rows().count == 50)
    #expect(try Self.table.unmatched() == [])
  }

  @Test("row", arguments: table.answers.keys.sorted())
  func row(id: String) throws { try Self.table.run(id) }

  // MARK: Checks

  static func stret(_ result: String, _ expected: Bool) -> Conformance.Answer {
    .check { () throws -> Void in
      // The rows are about x86-64.
      let bytes = Array((result + "@:").utf8)
      let places = try CallPlaces(MethodSignature(utf8: bytes, for: .x86_64Linux))
      #expect((places.result.text == "memory (pointer in rdi)") == expected, "\(result)")
    }
  }

  /// Calls a fixture with the values in order, and returns the invocation.
  @discardableResult
  static func sent(_ name: String, _ values: any CallValue...) throws -> Invocation {
    let (call, function) = try Fixtures.call(name)
    func set<Value: CallValue>(_ value: Value, _ index: Int) throws {
      try call.setArgument(value, at: index)
    }
    for (index, value) in values.enumerated() { try set(value, index + 2) }
    try call.invoke(using: function)
    return call
  }

  /// One class for each type, because rows run concurrently.
  private final class Echo<Value> {}

  /// Sends a value to a Swift closure that returns it, and compares.
  static func echo<Value: CallValue & Equatable>(_ value: Value) throws {
    try MethodTable.of(Echo<Value>.self).register("echo:", replacing: true) {
      (_: Echo<Value>, value: Value) in value
    }
    let code = Value.typeEncoding
    let call = try Invocation(MethodSignature(parsing: "\(code)@:\(code)"), selector: "echo:")
    try call.setArgument(value, at: 2)
    try call.invoke(on: Echo<Value>())
    #expect(try call.result(as: Value.self) == value)
  }

  /// Sets and reads a value of every structure kind as bytes.
  static func keepsBytes(_ spelling: String) throws {
    let call = try Invocation(parsing: "\(spelling)@:\(spelling)")
    let size = try TypeEncoding(parsing: spelling).layout.size
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: 17 * $0 + 1) }
    try call.setArgument(bytes: bytes, at: 2)
    try call.setResult(bytes: bytes)
    #expect(try call.argumentBytes(at: 2) == bytes, "\(spelling)")
    #expect(try call.resultBytes() == bytes, "\(spelling)")
  }

  // MARK: The rows

  static let table = Conformance(areas: ["ABI", "INV"], abi.merging(invocations) { $1 })

  private static let abi: [String: Conformance.Answer] = [
    "C123": stret("{NSRect={NSPoint=dd}{NSSize=dd}}", true), "C124": stret("{NSPoint=dd}", false),
    "C125": stret("{NSRange=QQ}", false), "C126": stret("{foo=ffff}", false),
    "C127": stret("{foo=fffff}", true), "C128": stret("{foo=t}", false), "C130": stret("t", false),
    "C131": stret("D", false), "C132": stret("{nlist_64=(?=I)CCSQ}", false),
    "C133": stret("{foo=D}", false), "C134": stret("{CATransform3D=ffffffffffffffff}", true),
    "C135": .check { () throws -> Void in
      for result in ["(un=cD)", "(un=Di)"] {
        let bytes = Array((result + "@:").utf8)
        let places = try CallPlaces(MethodSignature(utf8: bytes, for: .x86_64Linux))
        #expect(places.result.text == "memory (pointer in rdi)")
      }
    },
  ]

  private static let invocations: [String: Conformance.Answer] = [
    "C137": .checked(in: "InvocationTests, 'a new invocation has no target'"),
    "C139": index, "C140": index,
    "C141": .checked(in: "InvocationTests, 'indices are those of NSInvocation'"),
    "C143": .check { () throws -> Void in
      for spelling in ["i@:", "v@:"] {
        let call = try Invocation(parsing: spelling)
        #expect(throws: InvocationError.resultNotAvailable) { try call.resultBytes() }
      }
    },
    "C144": .check { () throws -> Void in
      let call = try Invocation(parsing: "v@:")
      try call.setTarget(Subject())
      #expect(throws: InvocationError.selectorNotSet) { try call.invoke() }
    },
    "C145": .check { () throws -> Void in
      let call = try Invocation(MethodSignature("i@:"), selector: "x")
      try call.setResult(Int32(5))
      try call.invoke()
      #expect(try call.result(as: Int32.self) == 0)
    },
    "C147": .check { () throws -> Void in
      final class T {}
      try MethodTable.of(T.self).register("go") { (_: T) in }
      let call = try Invocation(MethodSignature("v@:"), selector: "go")
      let other = T()
      try call.setTarget(T())
      try call.invoke(on: other)
      #expect(call.target === other)
    },
    "C148": .check { () throws -> Void in
      final class N {
        var calls = 0
        let value: Int32
        init(_ value: Int32) { self.value = value }
      }
      try MethodTable.of(N.self).register("value") { (n: N) -> Int32 in
        n.calls += 1
        return n.value
      }
      let call = try Invocation(MethodSignature("i@:"), selector: "value")
      let targets = [N(1), N(2), N(3)]
      for target in targets { try call.invoke(on: target) }
      #expect(try call.result(as: Int32.self) == 3)
      #expect(targets.allSatisfy { $0.calls == 1 })
    },
    "C149": .check { () throws -> Void in
      struct AnError: Error {}
      final class T {}
      try MethodTable.of(T.self).register("f:") { (_: T, fails: Bool) throws -> Int32 in
        if fails { throw AnError() }
        return 1
      }
      let call = try Invocation(MethodSignature("i@:B"), selector: "f:")
      try call.invoke(on: T())
      try call.setArgument(true, at: 2)
      #expect(throws: AnError.self) { try call.invoke() }
      #expect(throws: InvocationError.resultNotAvailable) { try call.result(as: Int32.self) }
    },
    "C151": lifetime, "C152": lifetime, "C153": lifetime, "C154": lifetime, "C155": lifetime,
    "C156": .check { () throws -> Void in
      let call = try Invocation(parsing: "v@:*")
      call.retainArguments()
      try call.setArgument(nil as UnsafePointer<CChar>?, at: 2)
      #expect(try call.argument(at: 2, as: UnsafePointer<CChar>?.self) == nil)
    },
    "C157": lifetime,
    "C159": .check { () throws -> Void in
      #expect(try sent("m_char").result(as: Int8.self) == -5)
      #expect(try sent("m_ushort").result(as: UInt16.self) == 65000)
      #expect(try sent("m_float").result(as: Float.self) == 2.5)
      let point = FixturePoint(x: 1, y: 2)
      #expect(try sent("m_point", point).result(as: FixturePoint.self) == FixturePoint(x: 2, y: 1))
      let three: [Float] = [1, 2, 3]
      #expect(try sent("m_three").resultBytes() == three.withUnsafeBytes { Array($0) })
    },
    "C160": .check { () throws -> Void in
      try echo(Int8(99)); try echo(Int16(12345)); try echo(Int32(123_456)); try echo(123_456)
      try echo(Float(123.456)); try echo(123.456)
      let subject = Subject("x")
      #expect(try sent("m_same", subject).result(as: Subject.self) === subject)
    },
    "C162": lifetime,
    "C165": .check { () throws -> Void in
      let rectangle = FixtureRectangle(origin: .init(x: 1, y: 2), size: .init(x: 3, y: 4))
      #expect(try sent("m_rectangle", rectangle).result(as: FixtureRectangle.self) == rectangle)
    },
    "C166": .check { () throws -> Void in
      let (call, function) = try Fixtures.call("m_bits")
      // 3 bits, 5 bits and 7 bits in one unsigned.
      let value = UInt32(3 | 20 << 3 | 100 << 8)
      try call.setArgument(bytes: withUnsafeBytes(of: value) { Array($0) }, at: 2)
      try call.invoke(using: function)
      let answer = try call.resultBytes().withUnsafeBytes { $0.load(as: UInt32.self) }
      #expect(answer & 7 == 100 & 7)
      #expect(answer >> 3 & 31 == 20)
      #expect(answer >> 8 & 127 == 3)
      #expect(try call.methodSignature.resultLength == 4)
    },
    "C167": .check { () throws -> Void in
      let (call, function) = try Fixtures.call("m_flags")
      try call.setArgument(bytes: [0b0000_1000, 0b10, 0, 0], at: 2)
      try call.invoke(using: function)
      let answer = try call.resultBytes()
      #expect(answer[0] == 0b0000_1001)
      #expect(answer[1] & 0b11 == 0b10)
    },
    "C168": .check { () throws -> Void in
      let (call, function) = try Fixtures.call("m_halves")
      let value: [UInt32] = [0xABCDE, 0x12345]
      try call.setArgument(bytes: value.withUnsafeBytes { Array($0) }, at: 2)
      try call.invoke(using: function)
      let answer = try call.resultBytes().withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) }
      #expect(answer.map { $0 & 0xFFFFF } == [0x12345, 0xABCDE])
    },
    "C169": .check { () throws -> Void in
      let (call, function) = try Fixtures.call("m_alternating")
      let values = [1, 1, 2, 3, 4, 9, 8, 27, 16, 81, 32, 243, 64, 729, 128]
      for (index, value) in values.enumerated() {
        try call.setArgument(exactly: value, at: index + 2)
      }
      try call.invoke(using: function)
      #expect(try call.result(as: Double.self) == 1348)
    },
    "C170": .check { () throws -> Void in
      let (call, function) = try Fixtures.call("m_chars")
      for index in 0..<8 { try call.setArgument(Int8(index + 1), at: index + 2) }
      try call.invoke(using: function)
      #expect(try call.result(as: Int32.self) == 36)
    },
    "C172": .check { () throws -> Void in
      let (call, function) = try Fixtures.call("m_structs")
      let first = FixtureRectangle(origin: .init(x: 1024, y: 2048), size: .init(x: 4096, y: 8192))
      let second = FixtureRectangle(origin: .init(x: 1000, y: 2000), size: .init(x: 4000, y: 8000))
      try call.setArgument(first, at: 2)
      try call.setArgument(second, at: 3)
      try call.setArgument(999.0, at: 4)
      let words: [UInt] = [0xDEAD_BEEF, 0xCAFE_CAFE, 0xF00D_C01D]
      try call.setArgument(bytes: words.withUnsafeBytes { Array($0) }, at: 5)
      try call.invoke(using: function)
      #expect(try call.result(as: Double.self) == 1024 + 8000 + 999 + Double(words.reduce(0, +)))
    },
    "C173": .check { () throws -> Void in
      try echo(UInt32(0xABAB_ABAB))
      try echo(UInt64(0x1234_0987_1234_ABAB))
    },
    "C174": .check { () throws -> Void in
      let (call, function) = try Fixtures.call("m_long_doubles")
      for (index, value) in [3.0, 9, 27].enumerated() {
        try call.setArgument(Int8(1 << index), at: 2 + 2 * index)
        try call.setArgument(LongDouble(value), at: 3 + 2 * index)
      }
      try call.invoke(using: function)
      #expect(try call.result(as: LongDouble.self) == LongDouble(129.0))
    },
    "C175": .check { () throws -> Void in
      for spelling in [
        "{a=f}", "{a=d}", "{a=ff}", "{a=dd}", "{a={b=f}{b=ff}}", "{a={b=d}{b=dd}}",
        "{a={b=ff}{b=ff}}", "{a={b=dd}{b=dd}}", "{a=df}", "{a=ff{b={c=ff}{c=ff}}}", "{a=id^v}",
        "{a=CI}", "{a=CS}", "{a=C}", "{a=DCD}",
      ] { try keepsBytes(spelling) }
    },
    "C176": .check { () throws -> Void in
      try echo(Int8(-12)); try echo(Int16(bitPattern: 0xABAB)); try echo(UInt16(0xCDEF))
      try echo(Int32(-70000)); try echo(UInt32(0xABCDEF)); try echo(Int64(1) << 50)
      try echo(-(Int64(1) << 50)); try echo(UInt64(0xABCD_EF01_0203)); try echo(Float(1024))
      try echo(2048.0)
    },
    "C178": .check { () throws -> Void in
      #expect(try sent("m_sum", Int32(40), Int32(2)).result(as: Int32.self) == 42)
      try keepsBytes("{_NSRange=QQ}")
    },
    "C179": .check { () throws -> Void in
      let (call, function) = try Fixtures.call("m_weighted")
      for index in 0..<10 { try call.setArgument(Int32(index + 1), at: index + 2) }
      try call.invoke(using: function)
      #expect(try call.result(as: Int.self) == 385)
    },
    "C181": .check { () throws -> Void in
      let (call, function) = try Fixtures.call("m_count")
      try call.setArgument(bytes: [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], at: 2)
      try call.invoke(using: function)
      #expect(try call.result(as: Int32.self) == 3)
      try call.setResult(Int32(8))
      #expect(try call.result(as: Int32.self) == 8)
    },
    "C183": archiving, "C184": archiving,
    // Apple's and GNUstep's invocations cannot be copied; those of this package can (design,
    // section 4).
    "C185": .check { () throws -> Void in
      let call = try Invocation(parsing: "v@:i")
      try call.setArgument(Int32(5), at: 2)
      #expect(try call.copy().argument(at: 2) as Int32 == 5)
    },
    "C186": .check { () throws -> Void in
      let call = try sent("m_nothing")
      #expect(throws: InvocationError.resultNotAvailable) { try call.resultBytes() }
    },
  ]

  private static let index = Conformance.Answer.checked(
    in: "InvocationTests, 'an index out of range is refused'")

  private static let archiving = Conformance.Answer.notApplicable(
    "invocations hold addresses and are not archived; there is no NSCoding on Linux")

  /// Checked by a serialized suite, because it counts live objects.
  private static let lifetime = Conformance.Answer.checked(in: "LifetimeTests")
}
