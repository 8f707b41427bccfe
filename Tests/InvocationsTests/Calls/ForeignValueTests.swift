// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Invocations

@Suite("Values in errors")
struct ForeignValueTests {
  struct Pair: CallStructure {
    var one: Int16
    var other: Int16
    static var structure: VouchedStructure<Pair> { unsafe VouchedStructure("{pair=ss}") }
  }
  struct Ordered: CarriedValue {
    var carrier: Pair
    init?(carrier: Pair) {
      if carrier.one > carrier.other { return nil }
      self.carrier = carrier
    }
  }
  struct Word: CarriedValue {
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
    let pair = InvocationError.foreignValue(
      type: SwiftType(Ordered.self), given: "Pair(one: 2, other: 1)")
    #expect(throws: pair) { try functions.call("order", Pair(one: 2, other: 1)) }
    let text = InvocationError.foreignValue(type: SwiftType(Word.self), given: "two words")
    #expect(throws: text) { try functions.call("read", "two words") }
  }
}
