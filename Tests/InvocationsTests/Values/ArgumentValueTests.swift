// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import ForwardingTestSupport
import Invocations
import Testing

@Suite("The arguments of a call as Swift values")
struct ArgumentValueTests {
  private static func described(_ values: [Any?]) -> [String] {
    values.map { value in value.map { "\(type(of: $0)) \($0)" } ?? "nil" }
  }

  @Test("each scalar has its Swift type")
  func scalars() throws {
    let call = try Invocation(parsing: "v@:cCsSiIqQfdBtT")
    for index in 2..<9 { try call.setArgument(exactly: index, at: index) }
    try call.setArgument(UInt(9), at: 9)
    try call.setArgument(Float(1.5), at: 10)
    try call.setArgument(2.5, at: 11)
    try call.setArgument(true, at: 12)
    #expect(
      Self.described(call.arguments) == [
        "Int8 2", "UInt8 3", "Int16 4", "UInt16 5", "Int32 6", "UInt32 7", "Int 8", "UInt 9",
        "Float 1.5", "Double 2.5", "Bool true", "Int128 0", "UInt128 0",
      ])
  }

  @Test("text, objects and selectors have their types, and are nil if they are missing")
  func references() throws {
    let call = try Invocation(parsing: "v@:*@:*@:^v")
    let subject = Subject()
    try call.setArgument("text", at: 2)
    try call.setArgument(subject as AnyObject, at: 3)
    try call.setArgument("go:" as Selector, at: 4)
    let arguments = call.arguments
    #expect(arguments[0] as? String == "text")
    #expect(arguments[1] as? Subject === subject)
    #expect(arguments[2] as? Selector == "go:")
    #expect(Self.described(Array(arguments[3...])) == ["nil", "nil", "nil", "nil"])
  }

  @Test("a structure is its bytes")
  func structures() throws {
    // Structures of all names share plans, so this one has types that no other test uses.
    let call = try Invocation(parsing: "v@:{FixturePoint=dd}SCS")
    try call.setArgument(FixturePoint(x: 1, y: 0), at: 2)
    let bytes = try #require(call.arguments[0] as? [UInt8])
    #expect(bytes == [0, 0, 0, 0, 0, 0, 0xF0, 0x3F] + Array(repeating: 0, count: 8))
  }

  @Test("the result is available after it exists")
  func result() throws {
    let call = try Invocation(parsing: "i@:")
    #expect(call.resultValue == nil)
    try call.setResult(Int32(5))
    #expect(call.resultValue as? Int32 == 5)
  }

  @Test("a function has no hidden arguments")
  func function() throws {
    let call = try Invocation(parsing: "vi")
    try call.setArgument(Int32(3), at: 0)
    #expect(Self.described(call.arguments) == ["Int32 3"])
  }
}
