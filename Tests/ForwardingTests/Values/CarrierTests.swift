// SPDX-License-Identifier: Apache-2.0
import ForeignTypes
import Forwarding
import ForwardingTestSupport
import Invocations
import Testing

/// The carrier that a foreign number declares, an address, although its module stores a number.
public struct Address: CallStructure {
  public var address: UInt
  public static var structure: VouchedStructure<Address> {
    unsafe VouchedStructure("{Address=^v}")
  }
}

extension ForeignNumber: CarriedValue {
  public var carrier: Address { Address(address: 0) }
  public init?(carrier: Address) { nil }
}

/// Degrees, for which zero is a valid value.
private struct Degrees: CarriedValue, NullableCallValue {
  var carrier = 0.0
  init?(carrier: Double) { self.carrier = carrier }
}

private struct Corner: CallStructure {
  var x = 0
  var y = 0
  static var structure: VouchedStructure<Corner> { unsafe VouchedStructure("{Corner=qq}") }
}

/// A type larger than the word that nil clears.
private struct Wide: CarriedValue, NullableCallValue {
  var carrier = Corner()
  init?(carrier: Corner) { self.carrier = carrier }
}

/// A type whose carrier is already optional.
private struct Remark: CarriedValue, NullableCallValue {
  var carrier: String?
  init?(carrier: String?) { self.carrier = carrier }
}

/// A structure whose first member may be zero.
private struct Mark: CallStructure, NullableCallValue {
  var id = 0
  static var structure: VouchedStructure<Mark> { unsafe VouchedStructure("{Mark=q}") }
}

private struct Endless: CarriedValue {
  var carrier: Endless { self }
  init?(carrier: Endless) { nil }
}

private struct There: CarriedValue {
  var carrier: Back { Back() }
  init() {}
  init?(carrier: Back) {}
}

private struct Back: CarriedValue {
  var carrier: There { There() }
  init() {}
  init?(carrier: There) {}
}

private struct Perhaps: CarriedValue, NullableCallValue {
  var carrier: Perhaps? { nil }
  init?(carrier: Perhaps?) { nil }
}

/// Each type's carrier is another type, without end.
private struct Growing<Inner>: CarriedValue {
  var carrier: Growing<Growing<Inner>> { Growing<Growing<Inner>>() }
  init() {}
  init?(carrier: Growing<Growing<Inner>>) {}
}

private struct Kelvin: CarriedValue, Equatable {
  var carrier: Double
  init(carrier: Double) { self.carrier = carrier }
}

private struct Noon: CarriedValue, Equatable {
  var carrier: Kelvin
  init(carrier: Kelvin) { self.carrier = carrier }
}

private struct Name: CarriedValue, NullableCallValue, Equatable {
  var carrier: String
  init(carrier: String) { self.carrier = carrier }
}

private struct Handle: CarriedValue, NullableCallValue, Equatable {
  var carrier: UnsafeRawPointer
  init(carrier: UnsafeRawPointer) { unsafe self.carrier = carrier }
}

@Suite("Carriers of values")
struct CarrierTests {
  @Test("a structure that another module carries as an address is no address")
  func foreignStructure() throws {
    let error = InvocationError.typeMismatch(
      index: 0, expected: encodingOf("{Address=^v}"), given: SwiftType(ForeignNumber.self))
    #expect(throws: InvocationError.unfitFunction(name: "f", reason: error)) {
      try FunctionTable().register("f", encoding: "v{Address=^v}") { (_: ForeignNumber) in }
    }
  }

  @Test("a foreign structure is set as the type that it stores, not as its declared carrier")
  func foreignArgument() throws {
    let call = try Invocation(parsing: "v@:{Address=^v}")
    #expect(throws: InvocationError.self) { try call.setArgument(ForeignNumber(64), at: 2) }
    let own = try Invocation(parsing: "v@:{ForeignNumber=q}")
    try own.setArgument(ForeignNumber(64), at: 2)
    #expect(try own.argument(at: 2, as: ForeignNumber.self) == ForeignNumber(64))
  }

  private static let zeros = [
    Impostor(Degrees?.self, "d"), Impostor(Wide?.self, "{Corner=qq}"), Impostor(Remark?.self, "*"),
    Impostor(Mark?.self, "{Mark=q}"),
  ]

  @Test("an optional is refused if zero is a value", arguments: zeros)
  func zero(impostor: Impostor) { impostor.expectRefused() }

  private static let circles = [
    Impostor(Endless.self, "q"), Impostor(There.self, "q"), Impostor(Perhaps.self, "@"),
    Impostor(Growing<Int>.self, "{Corner=qq}"),
  ]

  @Test("a type that is its own carrier is refused", arguments: circles)
  func endless(impostor: Impostor) { impostor.expectRefused() }

  @Test("the error names the type")
  func message() {
    let error = InvocationError.unfitType(SwiftType(Endless.self))
    #expect(throws: InvocationError.unfitFunction(name: "f", reason: error)) {
      try FunctionTable().register("f") { (_: Int, _: Endless) in }
    }
  }

  @Test("a carrier may have a carrier")
  func chain() throws {
    let functions = FunctionTable()
    try functions.register("noon") { (noon: Noon) in noon }
    let noon = Noon(carrier: Kelvin(carrier: 300))
    #expect(try functions.call("noon", noon, returning: Noon.self) == noon)
    #expect(try functions.call("noon", 300.0, returning: Double.self) == 300)
  }

  @Test("an optional with an address or text as carrier may be nil")
  func handle() throws {
    let functions = FunctionTable()
    try functions.register("isThere") { (handle: Handle?) in handle != nil }
    let handle = try #require(UnsafeRawPointer(bitPattern: 64).map { Handle(carrier: $0) })
    #expect(try functions.call("isThere", Handle?.some(handle), returning: Bool.self))
    #expect(try !functions.call("isThere", Handle?.none, returning: Bool.self))
    try functions.register("greet") { (name: Name?) in
      Name(carrier: "hello " + (name?.carrier ?? "you"))
    }
    let ada = Name(carrier: "Ada")
    #expect(try functions.call("greet", ada, returning: Name.self).carrier == "hello Ada")
    #expect(try functions.call("greet", Name?.none, returning: String.self) == "hello you")
  }
}
