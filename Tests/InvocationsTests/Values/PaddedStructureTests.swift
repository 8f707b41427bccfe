// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import CForwardingShims
import ForwardingTestSupport
import Testing
import TypeEncodings

@testable import Invocations

/// A structure of 16 bytes with an empty second eightbyte uses one register, not two. Regression:
/// the second eightbyte was written to the register of the next argument.
@Suite("On x86-64, padding uses no register", .machine(.x86_64Linux))
struct PaddedStructureTests {
  /// A registered layout, or an empty array of an aligned type, determines the alignment.
  static let spellings = ["{FixturePadded=i}", "{FixturePadded=[0t]i}"]

  static func signature(_ text: String) throws -> MethodSignature {
    var layouts = StructureLayouts()
    if !text.contains("[0t]") {
      layouts["FixturePadded"] = .init(size: 16, alignment: 16, fieldOffsets: [0])
    }
    return try MethodSignature(parsing: text, layouts: layouts)
  }

  static let forty = [40, 0, 0, 0] + [UInt8](repeating: 0xEE, count: 12)

  static func prepared(_ text: String, numbers: Int) throws -> Invocation {
    let call = Invocation(try CallPlan.shared(for: signature(text)))
    try call.setArgument(1.5, at: 0)
    for number in 1...numbers { try call.setArgument(Int32(number), at: number) }
    // Set after the neighbours: a value that is too long would overwrite one of them.
    try call.setArgument(bytes: forty, at: numbers + 1)
    return call
  }

  /// Calls a function, by the direct engine alone: libffi passes such structures wrong.
  static func result(_ call: Invocation, _ function: UnsafeRawPointer) throws -> Double {
    #expect(!call.invokeThroughLibffi(using: function))
    try call.invoke(using: function)
    return try call.result(as: Double.self)
  }

  @Test("a padded structure is passed in the last register", arguments: spellings)
  func lastRegister(spelling: String) throws {
    let call = try Self.prepared("ddiiiii\(spelling)d", numbers: 5)
    try call.setArgument(0.25, at: 7)
    #expect(try Self.result(call, Fixtures.named("f_padded_last").function) == 41.75)
  }

  @Test("a padded structure is passed on the stack", arguments: spellings)
  func onTheStack(spelling: String) throws {
    let call = try Self.prepared("ddiiiiii\(spelling)", numbers: 6)
    #expect(try Self.result(call, Fixtures.named("f_padded_stack").function) == 41.5)
  }

  @Test("padding reads as zero", arguments: spellings)
  func readsAsZero(spelling: String) throws {
    let call = try Self.prepared("ddiiiii\(spelling)d", numbers: 5)
    let bytes = try call.argumentBytes(at: 6)
    #expect(bytes == Array(Self.forty.prefix(8)) + [UInt8](repeating: 0, count: 8))
    #expect(call.description.contains("[40, 0, 0, 0"))
  }

  @Test("a padded structure is returned", arguments: spellings)
  func result(spelling: String) throws {
    let call = Invocation(try CallPlan.shared(for: Self.signature(spelling + spelling)))
    try call.setArgument(bytes: Self.forty, at: 0)
    try call.invoke(using: Fixtures.named("f_padded_twice").function)
    #expect(try call.resultBytes().prefix(4) == [80, 0, 0, 0])
    #expect(try call.resultBytes().suffix(8) == [UInt8](repeating: 0, count: 8)[...])
  }

  @Test("a padded structure is passed into a callback", arguments: spellings)
  func callback(spelling: String) throws {
    let callback = try Callback(Self.signature("ddiiiii\(spelling)d")) { call in
      let number = try call.argumentBytes(at: 6)[0]
      let sum = try call.argument(at: 0, as: Double.self) + call.argument(at: 7, as: Double.self)
      try call.setResult(Double(number) + sum)
    }
    #expect(fixture_call_padded(callback.address) == 41.75)
  }

  @Test("a padded structure is returned from a callback", arguments: spellings)
  func callbackResult(spelling: String) throws {
    let callback = try Callback(Self.signature(spelling + spelling)) { call in
      let number = try call.argumentBytes(at: 0)[0]
      try call.setResult(bytes: [2 * number] + [UInt8](repeating: 0, count: 15))
    }
    #expect(fixture_call_padded_twice(callback.address) == 42)
  }

  @Test("a padded structure moves from a register to the stack in a message callback")
  func door() throws {
    let observer = PaddedObserver()
    let door = try Callback(
      to: observer, selector: "sum::::::::", encoding: "ddiiiii{FixturePadded=[0t]i}d")
    #expect(fixture_call_padded(door.address) == 41.75)
  }

  @Test("a Swift value of the structure's own type is passed")
  func swiftValue() throws {
    let call = try Self.prepared("ddiiiii{FixturePadded=[0t]i}d", numbers: 5)
    try call.setArgument(0.25, at: 7)
    try call.setArgument(FixturePadded(number: 40), at: 6)
    #expect(try call.argument(at: 6, as: FixturePadded.self).number == 40)
    #expect(try Self.result(call, Fixtures.named("f_padded_last").function) == 41.75)
  }
}

/// AAPCS64 looks at the alignment of the members. A string tells only that of the structure, so C may
/// use other registers than the string describes.
@Suite("On AArch64, an alignment that may be the structure's own is refused")
struct OveralignedStructureTests {
  @Test(
    "an empty array that may align a structure is refused by value, at its place",
    arguments: [
      ("v{FixturePadded=[0t]i}", 16), ("{FixturePadded=[0t]i}", 15), ("v{S=q[0T]}", 5),
      ("v{S=[0D]f}", 4), ("v{S={T=[0t]}q}", 7), ("v(U=[0t]i)", 4), ("v{S=[1{T=[0t]i}]}", 9),
      ("v{S=[0{T=t}]i}", 4), ("v{S=[0t]t}", 4), ("v{S=[0t]D}", 4),
    ] as [(String, Int)])
  func refused(spelling: String, offset: Int) throws {
    let error = #expect(throws: InvocationError.self) {
      try CallPlaces(MethodSignature(utf8: Array(spelling.utf8), for: .aarch64Linux))
    }
    #expect(
      error
        == .encoding(
          TypeEncodingError(reason: .compilersDisagree, offset: offset, encoding: spelling)))
  }

  @Test("the same string is accepted for x86-64, where only size and members count")
  func elsewhere() throws {
    for spelling in ["v{FixturePadded=[0t]i}", "{FixturePadded=[0t]i}"] {
      _ = try CallPlaces(MethodSignature(utf8: Array(spelling.utf8), for: .x86_64Linux))
    }
  }

  @Test(
    "an empty array is accepted where its alignment does not matter, and behind a pointer",
    arguments: ["v{S=[0q]i}", "v{S=[0t]qqq}", "v^{S=[0t]i}", "v{S=[0t]}"])
  func accepted(spelling: String) throws {
    _ = try CallPlaces(MethodSignature(utf8: Array(spelling.utf8), for: .aarch64Linux))
  }

  @Test(
    "on AArch64, C has the structure's members in one register, whatever its own alignment",
    .machine(.aarch64Linux))
  func called() throws {
    #expect(throws: InvocationError.self) { try Fixtures.call("f_padded_last") }
    // Described by its size of 16 bytes and its real alignment, the call is right: two registers.
    let call = try Invocation(parsing: "ddiiiii{FixturePadded=iiii}d")
    try call.setArgument(1.5, at: 0)
    for number in 1...5 { try call.setArgument(Int32(number), at: number) }
    try call.setArgument(bytes: PaddedStructureTests.forty, at: 6)
    try call.setArgument(0.25, at: 7)
    let function = Fixtures.named("f_padded_last").function
    try call.invoke(using: function)
    #expect(try call.result(as: Double.self) == 41.75)
  }
}

private final class PaddedObserver: MethodDeclaring {
  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("sum::::::::") {
      (
        self: PaddedObserver, d: Double, a: Int32, b: Int32, c: Int32, e: Int32, f: Int32,
        p: FixturePadded, g: Double
      ) -> Double in
      a + b + c + e + f == 15 ? d + Double(p.number) + g : -1
    }
  }
}

@Suite("Bytes outside a number are zero")
struct NumberPaddingTests {
  @Test(
    "the padding of a long double is zero, as argument and as result", arguments: ["DD", "jDjD"])
  func longDouble(encoding: String) throws {
    let call = try Invocation(parsing: encoding)
    let size = try call.methodSignature.resultLength
    try call.setArgument(bytes: [UInt8](repeating: 0x3F, count: size), at: 0)
    try call.setResult(bytes: [UInt8](repeating: 0x3F, count: size))
    let expected = (0..<size).map { UInt8($0 % 16 < TestMachine.longDoubleBytes ? 0x3F : 0) }
    #expect(try call.argumentBytes(at: 0) == expected)
    #expect(try call.resultBytes() == expected)
  }
}
