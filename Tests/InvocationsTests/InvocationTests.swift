import ForwardingTestSupport
import CForwardingFixtures
import TypeEncodings
import Testing

@testable import Invocations

@Suite("Invocations")
struct InvocationTests {
  @Test("a fresh one has no target, no selector, zero arguments and no result")
  func fresh() throws {
    let call = try Invocation(parsing: "i@:i*@d")
    #expect(call.target == nil)
    #expect(call.selector == nil)
    #expect(!call.argumentsRetained)
    #expect(try call.argument(at: 2) as Int32 == 0)
    #expect(try call.argument(at: 3) as String? == nil)
    #expect(try call.object(at: 4) == nil)
    #expect(try call.argument(at: 5) as Double == 0)
    #expect(throws: InvocationError.resultNotAvailable) { try call.result(as: Int32.self) }
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

  @Test("an index outside is refused", arguments: [-1, 4, Int.max, Int.min])
  func index(index: Int) throws {
    let call = try Invocation(parsing: "i@:ii")
    let expected = InvocationError.indexOutOfBounds(index: index, count: 4)
    #expect(throws: expected) { try call.setArgument(Int32(1), at: index) }
    #expect(throws: expected) { try call.argument(at: index, as: Int32.self) }
    #expect(throws: expected) { try call.setArgument(exactly: 1, at: index) }
    #expect(throws: expected) { try call.setArgument(bytes: [], at: index) }
    #expect(throws: expected) { try call.argumentBytes(at: index) }
  }

  @Test("a mismatch names index, expected and given")
  func mismatch() throws {
    let call = try Invocation(parsing: "v@:q{FixturePoint=dd}@")
    func refuses(_ given: Any.Type, at index: Int, _ expected: String, _ body: () throws -> Void) {
      #expect(
        throws: InvocationError.argumentMismatch(
          index: index, expected: encodingOf(expected), given: SwiftType(given))
      ) { try body() }
    }
    refuses(Int32.self, at: 2, "q") { try call.setArgument(Int32(1), at: 2) }
    refuses(Double.self, at: 2, "q") { try call.setArgument(1.0, at: 2) }
    refuses(FixtureMixed.self, at: 3, "{FixturePoint=dd}") {
      try call.setArgument(FixtureMixed(number: 1, value: 2), at: 3)
    }
    refuses(String.self, at: 4, "@") { try call.setArgument("text", at: 4) }
    refuses(Subject.self, at: 2, "q") { try call.setArgument(Subject() as AnyObject, at: 2) }
    #expect(try call.argument(at: 2, as: Int.self) == 0)
  }

  @Test("integers convert only where asked, and only exactly")
  func exactly() throws {
    let call = try Invocation(parsing: "v@:qCQfdB")
    try call.setArgument(exactly: Int32(-5), at: 2)
    #expect(try call.argument(at: 2) as Int64 == -5)
    try call.setArgument(exactly: 255, at: 3)
    try call.setArgument(exactly: 1 << 53, at: 6)
    try call.setArgument(exactly: 1, at: 7)
    #expect(try call.argument(at: 7) as Bool)
    for refused in [
      { try call.setArgument(exactly: 256, at: 3) }, { try call.setArgument(exactly: -1, at: 4) },
      { try call.setArgument(exactly: 1e300, at: 5) },
      { try call.setArgument(exactly: Double.nan, at: 5) },
      { try call.setArgument(exactly: 0.1, at: 5) }, { try call.setArgument(exactly: 1.5, at: 2) },
      { try call.setArgument(exactly: 2, at: 7) },
      { try call.setArgument(exactly: 1 << 53 + 1, at: 6) },
    ] as [() throws -> Void] {
      #expect { try refused() } throws: { error in
        if case InvocationError.notExact = error { true } else { false }
      }
    }
    #expect(try call.argument(at: 3) as UInt8 == 255)
  }

  @Test("raw bytes are exactly as many as the type has")
  func rawBytes() throws {
    let call = try Invocation(parsing: "v@:{FixtureMixed=id}s")
    try call.setArgument(bytes: [0xFE, 0xFF], at: 3)
    #expect(try call.argument(at: 3) as Int16 == -2)
    #expect(throws: InvocationError.wrongSize(expected: 16, given: 12)) {
      try call.setArgument(bytes: [UInt8](repeating: 0, count: 12), at: 2)
    }
    let image = (0..<16).map { UInt8($0) }
    try call.setArgument(bytes: image, at: 2)
    #expect(try call.argumentBytes(at: 2) == image)
  }

  @Test("a narrow raw integer is widened by its sign, as callees expect")
  func widening() throws {
    let fixture = Fixtures.named("m_chars")
    let call = try Invocation(parsing: fixture.encoding)
    for index in 2..<10 { try call.setArgument(bytes: [0xFF], at: index) }
    try call.invoke(using: fixture.function)
    #expect(try call.result(as: Int32.self) == -8)
  }

  @Test("one invocation over several targets: each is called once, the last result stays")
  func reuse() throws {
    try MethodTable.of(Subject.self).register("length:") { (target: Subject, extra: Int32) in
      Int32(target.name.count) + extra
    }
    let call = try Invocation(MethodSignature("i@:i"), selector: "length:")
    try call.setArgument(Int32(10), at: 2)
    var results: [Int32] = []
    for name in ["a", "bb", "ccc"] {
      try call.invoke(on: Subject(name))
      results.append(try call.result())
    }
    #expect(results == [11, 12, 13])
    #expect((call.target as? Subject)?.name == "ccc")
  }

  @Test("a nil target is not called; the result is zero and available")
  func nilTarget() throws {
    let call = try Invocation(MethodSignature("i@:ii"), selector: "add:to:")
    try call.setResult(Int32(7))
    try call.invoke(on: nil)
    #expect(try call.result(as: Int32.self) == 0)
    let large = try Invocation(MethodSignature("{R=dddd}@:"), selector: "frame")
    try large.invoke()
    #expect(try large.resultBytes() == [UInt8](repeating: 0, count: 32))
  }

  @Test("without a selector nothing is sent")
  func noSelector() throws {
    let call = try Invocation(parsing: "v@:")
    try call.setTarget(Subject())
    #expect(throws: InvocationError.selectorNotSet) { try call.invoke() }
  }

  @Test("a plain function has no target, and is not sent")
  func plainFunction() throws {
    let call = try Invocation(parsing: "ddd")
    #expect(throws: InvocationError.notAMethod(signatureOf("ddd"))) { try call.invoke() }
    #expect(throws: InvocationError.notAMethod(signatureOf("ddd"))) {
      try call.setTarget(Subject())
    }
    #expect(throws: InvocationError.nullFunction) {
      try call.invoke(using: nil as UnsafeRawPointer?)
    }
  }

  @Test("an unknown selector and a selector of other types are errors that show both")
  func dispatchErrors() throws {
    try MethodTable.of(Subject.self).register("known:") { (_: Subject, _: Int32) in }
    let unknown = try Invocation(MethodSignature("v@:"), selector: "unknown")
    #expect(
      throws: InvocationError.unrecognizedSelector(
        "unknown", type: SwiftType(Subject.self), nearest: nil)
    ) {
      try unknown.invoke(on: Subject())
    }
    let other = try Invocation(MethodSignature("v@:d"), selector: "known:")
    #expect(
      throws: InvocationError.signatureMismatch(
        name: "known:", expected: signatureOf("v@:i"), given: signatureOf("v@:d"))
    ) {
      try other.invoke(on: Subject())
    }
  }

  @Test("the selector's colons are counted")
  func arity() throws {
    #expect(throws: InvocationError.self) {
      try Invocation(MethodSignature("v@:i"), selector: "none")
    }
    let call = try Invocation(parsing: "v@:i")
    #expect(throws: InvocationError.self) { try call.setSelector(Selector("a:b:")) }
  }

  @Test("what a Swift method throws, invoke throws; no result is left, not even an older one")
  func throwing() throws {
    struct Refusal: Error, Equatable {}
    final class Moody {}
    try MethodTable.of(Moody.self).register("answer:") { (_: Moody, value: Int32) throws -> Int32 in
      if value < 0 { throw Refusal() }
      return value
    }
    let call = try Invocation(MethodSignature("i@:i"), selector: "answer:")
    try call.setArgument(Int32(3), at: 2)
    try call.invoke(on: Moody())
    #expect(try call.result(as: Int32.self) == 3)
    try call.setArgument(Int32(-3), at: 2)
    #expect(throws: Refusal()) { try call.invoke() }
    #expect(throws: InvocationError.resultNotAvailable) { try call.result(as: Int32.self) }
  }

  @Test("a void result is never available, and leaves raw memory alone")
  func voidResult() throws {
    let (call, function) = try Fixtures.call("m_nothing")
    let before = fixture_calls()
    try call.invoke(using: function)
    #expect(fixture_calls() == before + 1)
    #expect(throws: InvocationError.resultNotAvailable) { try call.result(as: Int32.self) }
    var buffer: UInt64 = 0xABCD
    try call.copyResult(into: &buffer)
    #expect(buffer == 0xABCD)
  }

  @Test("a result can be set without a call, typed and raw")
  func setResult() throws {
    let call = try Invocation(parsing: "{FixturePoint=dd}@:")
    try call.setResult(FixturePoint(x: 1, y: 2))
    #expect(try call.result(as: FixturePoint.self) == FixturePoint(x: 1, y: 2))
    #expect(
      throws: InvocationError.resultMismatch(
        expected: encodingOf("{FixturePoint=dd}"), given: SwiftType(Double.self))
    ) {
      try call.setResult(1.0)
    }
    #expect(try call.resultBytes().count == 16)
  }

  @Test("a method of a superclass is found, and one of the class itself wins")
  func inheritance() throws {
    class Base {}
    class Derived: Base {}
    try MethodTable.of(Base.self).register("who") { (_: Base) in "base" }
    try MethodTable.of(Base.self).register("what") { (_: Base) in "thing" }
    try MethodTable.of(Derived.self).register("who") { (_: Derived) in "derived" }
    func answer(_ selector: Selector, _ target: AnyObject) throws -> String {
      let call = try Invocation(MethodSignature("*@:"), selector: selector)
      try call.invoke(on: target)
      return try call.result()
    }
    #expect(try answer("who", Base()) == "base")
    #expect(try answer("who", Derived()) == "derived")
    #expect(try answer("what", Derived()) == "thing")
  }

  @Test("errno after a call can be captured")
  func errnoCaptured() throws {
    let (call, function) = try Fixtures.call("f_fail")
    try call.setArgument(Int32(42), at: 0)
    #expect(try call.invokeCapturingErrno(using: function) == 42)
    try call.setArgument(Int32(0), at: 0)
    #expect(try call.invokeCapturingErrno(using: function) == 0)
    #expect(try call.result(as: Int32.self) == -1)
  }

  @Test("a variadic function gets C's promotions")
  func variadic() throws {
    let fixture = Fixtures.named("f_average")
    let plan = try CallPlan(MethodSignature(parsing: "diffd"), fixedArgumentCount: 1)
    #expect(plan.performer == .libffi)
    let call = Invocation(plan)
    try call.setArgument(Int32(3), at: 0)
    try call.setArgument(Float(1.5), at: 1)
    try call.setArgument(Float(2.5), at: 2)
    try call.setArgument(5.0, at: 3)
    #expect(try call.argument(at: 1) as Float == 1.5)
    try call.invoke(using: fixture.function)
    #expect(try call.result(as: Double.self) == 3)
    #expect(throws: InvocationError.indexOutOfBounds(index: 9, count: 4)) {
      try CallPlan(MethodSignature(parsing: "diffd"), fixedArgumentCount: 9)
    }
  }

  @Test("narrow variadic integers are promoted to int")
  func variadicIntegers() throws {
    let plan = try CallPlan(MethodSignature(parsing: "i^vQ*csCSB"), fixedArgumentCount: 3)
    let call = Invocation(plan)
    var buffer = [UInt8](repeating: 0, count: 64)
    try buffer.withUnsafeMutableBytes { bytes in
      try call.setArgument(bytes.baseAddress, at: 0)
      try call.setArgument(UInt(64), at: 1)
      try call.setArgument("%d %d %d %d %d", at: 2)
      try call.setArgument(Int8(-1), at: 3)
      try call.setArgument(Int16(-300), at: 4)
      try call.setArgument(UInt8(200), at: 5)
      try call.setArgument(UInt16(60000), at: 6)
      try call.setArgument(true, at: 7)
      try call.invoke(using: Library("").address(of: "snprintf"))
    }
    #expect(String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self) == "-1 -300 200 60000 1")
  }

  @Test("a pointer is seen by the second target as the first one left it; values are not")
  func pointersAndValues() throws {
    let (call, function) = try Fixtures.call("m_write")
    var number: Int32 = 0
    try withUnsafeMutablePointer(to: &number) { pointer in
      try call.setArgument(pointer, at: 2)
      try call.invoke(using: function)
      try call.invoke(using: function)
    }
    #expect(number == 2)
  }

  @Test("a description is one line of bounded length")
  func description() throws {
    let call = try Invocation(MethodSignature("v@:id*@"), selector: "a:b:c:d:")
    try call.setArgument(Int32(-1), at: 2)
    try call.setArgument(1e300, at: 3)
    try call.setArgument(String(repeating: "long ", count: 10_000), at: 4)
    try call.setArgument(Subject(), at: 5)
    let text = call.description
    #expect(text.hasPrefix("<Invocation v@:id*@ nil a:b:c:d: -1 1e+300 \"long long"))
    #expect(text.count < 500)
    #expect(!text.contains("\n"))
    let many = try Invocation(parsing: "v@:" + String(repeating: "d", count: 254))
    #expect(many.description.count < 600)
    for value in [Double.nan, -0.0, .infinity] {
      try call.setArgument(value, at: 3)
      #expect(call.description.contains("\(value)"))
    }
    let blob = try Invocation(parsing: "v@:{B=[4096c]}")
    #expect(blob.description.count < 200)
  }

  @Test("a borrowed C string is not followed by a description")
  func borrowedDescription() throws {
    let call = try Invocation(parsing: "v@:*")
    try call.setArgument(UnsafePointer<CChar>(bitPattern: 0xDEAD)!, at: 2)
    #expect(call.description.contains("0xdead"))
  }
}
