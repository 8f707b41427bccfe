// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import ForwardingTestSupport
import Invocations
import Testing
import TypeEncodings

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

  /// Sets the arguments of a `f_padded_…`. The structure is set after its neighbours: a value that is
  /// too long would overwrite one of them. Returns its index.
  static func setArguments(of call: Invocation) throws -> Int {
    let types = call.methodSignature.argumentTypes.map(\.description)
    for (index, type) in types.enumerated() {
      if type == "i" { try call.setArgument(Int32(index), at: index) }
      if type == "d" { try call.setArgument(index == 0 ? 1.5 : 0.25, at: index) }
    }
    let index = types.firstIndex { $0.hasPrefix("{") }!
    try call.setArgument(bytes: forty, at: index)
    return index
  }

  @Test(
    "a padded structure is passed in the last register, where padding reads as zero, and on the stack",
    arguments: spellings,
    [("f_padded_last", "ddiiiii", "d", 41.75), ("f_padded_stack", "ddiiiiii", "", 41.5)])
  func passed(spelling: String, row: (name: String, before: String, after: String, sum: Double))
    throws
  {
    let function = Fixtures.named(row.name).function
    let call = try Invocation(Self.signature(row.before + spelling + row.after))
    let index = try Self.setArguments(of: call)
    if row.name == "f_padded_last" {
      let zeros = [UInt8](repeating: 0, count: 8)
      #expect(try call.argumentBytes(at: index) == Array(Self.forty.prefix(8)) + zeros)
    }
    #expect(call.description.contains("[40, 0, 0, 0"))
    // libffi passes such structures wrong.
    #expect(!call.invokeThroughLibffi(using: function))
    try call.invoke(using: function)
    #expect(try call.result(as: Double.self) == row.sum)
    // A Swift value of the structure's own type.
    guard spelling.contains("[0t]") else { return }
    try call.setArgument(FixturePadded(number: 30), at: index)
    #expect(try call.argument(at: index, as: FixturePadded.self).number == 30)
    try call.invoke(using: function)
    #expect(try call.result(as: Double.self) == row.sum - 10)
  }

  @Test("a padded structure is returned", arguments: spellings)
  func result(spelling: String) throws {
    let call = try Invocation(Self.signature(spelling + spelling))
    try call.setArgument(bytes: Self.forty, at: 0)
    try call.invoke(using: Fixtures.named("f_padded_twice").function)
    #expect(try call.resultBytes().prefix(4) == [80, 0, 0, 0])
    #expect(try call.resultBytes().suffix(8) == [UInt8](repeating: 0, count: 8)[...])
  }

  @Test("a padded structure is passed into a callback, and returned from one", arguments: spellings)
  func callback(spelling: String) throws {
    let sum = try Callback(Self.signature("ddiiiii\(spelling)d")) { call in
      let number = try call.argumentBytes(at: 6)[0]
      let sum = try call.argument(at: 0, as: Double.self) + call.argument(at: 7, as: Double.self)
      try call.setResult(Double(number) + sum)
    }
    #expect(fixture_call_padded(sum.address) == 41.75)
    let twice = try Callback(Self.signature(spelling + spelling)) { call in
      let number = try call.argumentBytes(at: 0)[0]
      try call.setResult(bytes: [2 * number] + [UInt8](repeating: 0, count: 15))
    }
    #expect(fixture_call_padded_twice(twice.address) == 42)
  }

  @Test("a padded structure moves from a register to the stack in a message callback")
  func door() throws {
    try MethodTable.of(Subject.self).register("sum::::::::") {
      (
        _: Subject, d: Double, a: Int32, b: Int32, c: Int32, e: Int32, f: Int32, p: FixturePadded,
        g: Double
      ) -> Double in a + b + c + e + f == 15 ? d + Double(p.number) + g : -1
    }
    let subject = Subject()
    let door = try Callback(
      to: subject, selector: "sum::::::::", encoding: "ddiiiii{FixturePadded=[0t]i}d")
    #expect(fixture_call_padded(door.address) == 41.75)
    withExtendedLifetime(subject) {}
  }
}

@Suite("On AArch64, C has a structure's members in one register, whatever its own alignment")
struct OveralignedStructureTests {
  @Test(
    "described by its size of 16 bytes and its real alignment, the call is right: two registers",
    .machine(.aarch64Linux))
  func called() throws {
    #expect(throws: InvocationError.self) { try Fixtures.call("f_padded_last") }
    let call = try Invocation(parsing: "ddiiiii{FixturePadded=iiii}d")
    _ = try PaddedStructureTests.setArguments(of: call)
    try call.invoke(using: Fixtures.named("f_padded_last").function)
    #expect(try call.result(as: Double.self) == 41.75)
  }
}
