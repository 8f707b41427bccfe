// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Invocations

@Suite("Values in errors")
struct GivenValueTests {
  @Test("an integer is stored as a number, or as digits if it is too long")
  func integers() {
    #expect(GivenValue(Int8(-3)) == .integer(-3))
    #expect(GivenValue(UInt64.max) == .integer(18_446_744_073_709_551_615))
    #expect(GivenValue(UInt128.max) == .text("340282366920938463463374607431768211455"))
  }

  @Test("a floating number is stored, and prints as it was written")
  func numbers() {
    #expect("\(GivenValue(Float(0.1)))" == "0.1")
    #expect(GivenValue(0.1) == .double(0.1))
  }

  @Test("an error with a NaN is equal to itself")
  func notANumber() throws {
    let call = try Invocation(parsing: "vi")
    let errors = try (0..<2).map { _ in
      try #require(
        #expect(throws: InvocationError.self) { try call.setArgument(exactly: Double.nan, at: 0) })
    }
    #expect(errors[0] == errors[1])
    #expect(Set(errors).count == 1)
  }

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
  struct Short: CarriedValue {
    var carrier: Word
    init?(carrier: Word) {
      if carrier.carrier.utf8.count > 3 { return nil }
      self.carrier = carrier
    }
  }

  private func arriving<Value: CarriedValue>(
    _ type: Value.Type, _ given: some CallValue
  ) throws -> GivenValue? {
    let functions = FunctionTable()
    try functions.register("take") { (_: Value) in }
    let error = #expect(throws: InvocationError.self) { try functions.call("take", given) }
    guard case .foreignValue(_, let value) = error else { return nil }
    return value
  }

  @Test("a structure that is no value of a type is stored as its bytes")
  func structure() throws {
    let given = try #require(try arriving(Ordered.self, Pair(one: 2, other: 1)))
    #expect("\(given)" == "{pair=ss} 02 00 01 00")
  }

  @Test("text is stored as a copy, also from a value with text as carrier")
  func text() throws {
    #expect(try arriving(Word.self, "two words") == .text("two words"))
    #expect(try arriving(Short.self, "long") == .text("long"))
  }
}
