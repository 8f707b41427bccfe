// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import CForwardingFixtures
import TypeEncodings
import Testing

@testable import Invocations

@Suite("Invocations")
struct InvocationTests {
  @Test("a new invocation has no target, no selector, zero arguments and no result")
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

  @Test("a mismatch names the index, the expected and the given type")
  func mismatch() throws {
    let call = try Invocation(parsing: "v@:q{FixturePoint=dd}@")
    func refuses(_ given: Any.Type, at index: Int, _ expected: String, _ body: () throws -> Void) {
      #expect(
        throws: InvocationError.typeMismatch(
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

  @Test("integers are converted only on request, and only exactly")
  func exactly() throws {
    let call = try Invocation(parsing: "v@:qCQfdB")
    try call.setArgument(exactly: Int32(-5), at: 2)
    #expect(try call.argument(at: 2) as Int64 == -5)
    try call.setArgument(exactly: 255, at: 3)
    try call.setArgument(exactly: 1 << 53, at: 6)
    try call.setArgument(exactly: 1, at: 7)
    #expect(try call.argument(at: 7) as Bool)
    func refuses(_ value: String, _ type: String, _ set: () throws -> Void) {
      let error = InvocationError.notExact(value: value, type: encodingOf(type))
      #expect(throws: error) { try set() }
    }
    refuses("256", "C") { try call.setArgument(exactly: 256, at: 3) }
    refuses("-1", "Q") { try call.setArgument(exactly: -1, at: 4) }
    refuses("16777217", "f") { try call.setArgument(exactly: 1 << 24 + 1, at: 5) }
    refuses("2", "B") { try call.setArgument(exactly: 2, at: 7) }
    refuses("9007199254740993", "d") { try call.setArgument(exactly: 1 << 53 + 1, at: 6) }
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

  @Test("a narrow raw integer is sign-extended, as callees expect")
  func widening() throws {
    let fixture = Fixtures.named("m_chars")
    let call = try Invocation(parsing: fixture.encoding)
    for index in 2..<10 { try call.setArgument(bytes: [0xFF], at: index) }
    try call.invoke(using: fixture.function)
    #expect(try call.result(as: Int32.self) == -8)
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

  @Test("a description does not read a borrowed C string")
  func borrowedDescription() throws {
    let call = try Invocation(parsing: "v@:*")
    try call.setArgument(UnsafePointer<CChar>(bitPattern: 0xDEAD)!, at: 2)
    #expect(call.description.contains("0xdead"))
  }
}
