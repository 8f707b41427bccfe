// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import ForwardingTestSupport
import Invocations
import Testing
import TypeEncodings

@Suite("Invocations")
struct InvocationTests {
  private static func described(_ values: [Any?]) -> [String] {
    values.map { value in value.map { "\(type(of: $0)) \($0)" } ?? "nil" }
  }

  @Test("a new invocation has no target, no selector, zero arguments and no result")
  func fresh() throws {
    let call = try Invocation(parsing: "i@:i*@d")
    #expect(call.target == nil && call.selector == nil && !call.argumentsRetained)
    #expect(Self.described(call.arguments) == ["Int32 0", "nil", "nil", "Double 0.0"])
    #expect(try call.argument(at: 3) as String? == nil)
    #expect(call.resultValue == nil)
    #expect(throws: InvocationError.resultNotAvailable) { try call.result(as: Int32.self) }
    #expect(throws: InvocationError.resultNotAvailable) { try call.resultBytes() }
  }

  @Test("indices are those of NSInvocation: 0 and 1 share storage with target and selector")
  func hiddenArguments() throws {
    let call = try Invocation(parsing: "v@:i")
    let target = Subject()
    let selector = Selector("add:")
    try call.setArgument(target, at: 0)
    try call.setArgument(selector, at: 1)
    #expect(call.target === target)
    #expect(call.selector == selector)
    try call.setTarget(nil)
    #expect(try call.object(at: 0) == nil)
  }

  @Test("an index out of range is refused", arguments: [-1, 4, Int.max, Int.min])
  func index(index: Int) throws {
    let call = try Invocation(parsing: "i@:ii")
    let expected = InvocationError.indexOutOfBounds(index: index, count: 4)
    #expect(throws: expected) { try call.setArgument(Int32(1), at: index) }
    #expect(throws: expected) { try call.argument(at: index, as: Int32.self) }
    #expect(throws: expected) { try call.setArgument(exactly: 1, at: index) }
    #expect(throws: expected) { try call.setArgument(bytes: [], at: index) }
    #expect(throws: expected) { try call.argumentBytes(at: index) }
  }

  @Test("a mismatch names the index, the expected and the given type, and changes nothing")
  func mismatch() throws {
    let call = try Invocation(parsing: "d@:q{FixturePoint=dd}@cBC")
    func refuses<Value: CallValue>(_ value: Value, at index: Int, _ expected: String) {
      let error = InvocationError.typeMismatch(
        index: index, expected: encodingOf(expected), given: SwiftType(Value.self))
      #expect(throws: error) { try call.setArgument(value, at: index) }
      #expect(throws: error) { try call.argument(at: index, as: Value.self) }
    }
    refuses(Int32(1), at: 2, "q")
    refuses(1.0, at: 2, "q")
    refuses(FixtureMixed(number: 1, value: 2), at: 3, "{FixturePoint=dd}")
    refuses("text", at: 4, "@")
    refuses(true, at: 5, "c")
    refuses(true, at: 7, "C")
    try call.setArgument(true, at: 6)
    #expect(
      throws: InvocationError.typeMismatch(
        index: 2, expected: encodingOf("q"), given: SwiftType(Subject.self))
    ) { try call.setArgument(Subject() as AnyObject, at: 2) }
    #expect(try call.argument(at: 2, as: Int.self) == 0)
    try call.setResult(1.5)
    let result = InvocationError.typeMismatch(
      index: nil, expected: encodingOf("d"), given: SwiftType(Float.self))
    #expect(throws: result) { try call.setResult(Float(2)) }
    #expect(throws: result) { try call.result(as: Float.self) }
    #expect(try call.result(as: Double.self) == 1.5)
    let other = try Invocation(parsing: "{FixturePoint=dd}@:")
    let point = FixturePoint(x: 1, y: 2)
    try other.setResult(point)
    let unlike = InvocationError.typeMismatch(
      index: nil, expected: encodingOf("{FixturePoint=dd}"), given: SwiftType(Double.self))
    #expect(throws: unlike) { try other.setResult(1.0) }
    #expect(throws: unlike) { try other.result(as: Double.self) }
    #expect(try other.result(as: FixturePoint.self) == point)
    #expect(try other.resultBytes().count == 16)
  }

  @Test("integers are converted only on request, and only exactly")
  func exactly() throws {
    let call = try Invocation(parsing: "v@:qCQfdB")
    try call.setArgument(exactly: Int32(-5), at: 2)
    #expect(try call.argument(at: 2) as Int64 == -5)
    for (value, index) in [(255, 3), (1 << 53, 6), (1, 7)] {
      try call.setArgument(exactly: value, at: index)
    }
    #expect(try call.argument(at: 7) as Bool)
    for (value, type, index) in [
      (256, "C", 3), (-1, "Q", 4), (1 << 24 + 1, "f", 5), (2, "B", 7), (1 << 53 + 1, "d", 6),
    ] {
      #expect(throws: InvocationError.notExact(value: "\(value)", type: encodingOf(type))) {
        try call.setArgument(exactly: value, at: index)
      }
    }
    #expect(try call.argument(at: 3) as UInt8 == 255)
  }

  @Test("raw bytes of another size than the type's are refused, and change nothing")
  func rawBytes() throws {
    let call = try Invocation(parsing: "v@:{FixtureMixed=id}s")
    try call.setArgument(bytes: [0xFE, 0xFF], at: 3)
    #expect(try call.argument(at: 3) as Int16 == -2)
    let image = (0..<16).map { UInt8($0) }
    try call.setArgument(bytes: image, at: 2)
    for count in [0, 8, 15, 17, 4096] {
      #expect(throws: InvocationError.wrongSize(expected: 16, given: count)) {
        try call.setArgument(bytes: [UInt8](repeating: 1, count: count), at: 2)
      }
    }
    #expect(try call.argumentBytes(at: 2) == image)
  }

  @Test("values have their Swift types: numbers, text, objects, selectors, bytes of structures")
  func values() throws {
    let call = try Invocation(parsing: "i@:cCsSiIqQfdBtT")
    for index in 2..<10 { try call.setArgument(exactly: index, at: index) }
    try call.setArgument(Float(1.5), at: 10)
    try call.setArgument(2.5, at: 11)
    try call.setArgument(true, at: 12)
    #expect(
      Self.described(call.arguments) == [
        "Int8 2", "UInt8 3", "Int16 4", "UInt16 5", "Int32 6", "UInt32 7", "Int 8", "UInt 9",
        "Float 1.5", "Double 2.5", "Bool true", "Int128 0", "UInt128 0",
      ])
    try call.setResult(Int32(5))
    #expect(call.resultValue as? Int32 == 5)
    // Structures of all names share plans, so this one has types that no other test uses.
    let others = try Invocation(parsing: "v@:*@:*@:^v{FixturePoint=dd}SCS")
    let subject = Subject()
    try others.setArgument("text", at: 2)
    try others.setArgument(subject as AnyObject, at: 3)
    try others.setArgument("go:" as Selector, at: 4)
    try others.setArgument(FixturePoint(x: 1, y: 0), at: 9)
    let arguments = others.arguments
    #expect(arguments[0] as? String == "text")
    #expect(arguments[1] as? Subject === subject)
    #expect(arguments[2] as? Selector == "go:")
    #expect(Self.described(Array(arguments[3..<7])) == ["nil", "nil", "nil", "nil"])
    #expect(
      arguments[7] as? [UInt8] == [0, 0, 0, 0, 0, 0, 0xF0, 0x3F] + Array(repeating: 0, count: 8))
    // A function has no hidden arguments.
    let function = try Invocation(parsing: "vi")
    try function.setArgument(Int32(3), at: 0)
    #expect(Self.described(function.arguments) == ["Int32 3"])
  }

  @Test("a description is one line of bounded length, and does not read a borrowed C string")
  func description() throws {
    let call = try Invocation(MethodSignature("v@:id*@"), selector: "a:b:c:d:")
    try call.setArgument(Int32(-1), at: 2)
    try call.setArgument(1e300, at: 3)
    try call.setArgument(String(repeating: "long ", count: 10_000), at: 4)
    try call.setArgument(Subject(), at: 5)
    #expect(call.description.hasPrefix("<Invocation v@:id*@ nil a:b:c:d: -1 1e+300 \"long long"))
    #expect(call.description.count < 500)
    #expect(!call.description.contains("\n"))
    for value in [Double.nan, -0.0, .infinity] {
      try call.setArgument(value, at: 3)
      #expect(call.description.contains("\(value)"))
    }
    for encoding in ["v@:" + String(repeating: "d", count: 254), "v@:d*{B=[60000c]}"] {
      #expect(try Invocation(parsing: encoding).description.count < 600)
    }
    #expect(try Invocation(parsing: "v@:{B=[4096c]}").description.count < 200)
    try call.setArgument(UnsafePointer<CChar>(bitPattern: 0xDEAD)!, at: 4)
    #expect(call.description.contains("0xdead"))
    // Bytes that are not UTF-8, once the invocation owns them.
    ([-1, -2, 0] as [CChar]).withUnsafeBufferPointer { bytes in
      #expect(throws: Never.self) { try call.setArgument(bytes.baseAddress!, at: 4) }
      call.retainArguments()
    }
    #expect(call.description.contains("not UTF-8"))
    #expect(throws: InvocationError.notText(index: 4)) { try call.argument(at: 4, as: String.self) }
  }
}

@Suite("Values in errors")
struct ForeignValueTests {
  private struct Pair: CallStructure {
    var one: Int, other: Int
    static var structure: VouchedStructure<Self> { VouchedStructure("{Pair=qq}") }
  }
  private struct Ordered: CarriedValue {
    var carrier: Pair
    init?(carrier: Pair) {
      if carrier.one > carrier.other { return nil }
      self.carrier = carrier
    }
  }
  private struct Word: CarriedValue {
    var carrier: String
    init?(carrier: String) {
      if carrier.contains(" ") { return nil }
      self.carrier = carrier
    }
  }

  @Test("a carrier that is no value of a type is in the error as text")
  func arriving() throws {
    let functions = FunctionTable()
    try functions.register("order") { (_: Ordered) in }
    try functions.register("read") { (_: Word) in }
    let order = InvocationError.foreignValue(
      type: SwiftType(Ordered.self), given: "Pair(one: 2, other: 1)")
    #expect(throws: order) { try functions.call("order", Pair(one: 2, other: 1)) }
    let text = InvocationError.foreignValue(type: SwiftType(Word.self), given: "two words")
    #expect(throws: text) { try functions.call("read", "two words") }
  }
}
