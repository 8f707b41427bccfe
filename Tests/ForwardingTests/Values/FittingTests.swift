// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations
import Testing
import TypeEncodings

/// A class that the structures below hold at a place that may only have bytes.
private final class Held: Sendable {}

/// What structures of any members say that they are.
private let claims = [
  "{M=q@}", "{M=q*}", "{M=qq}", "{M=qQQ}", "{M=qq}", "", "@", "*", "qq", "{M=q", "{Pair=qq}",
]

/// A structure of the given members that makes one of the claims.
private struct Claimed<let claim: Int, Members: Sendable>: CallStructure {
  var members: Members
  static var structure: VouchedStructure<Self> { VouchedStructure(claims[claim]) }
}

private final class Host: CallObject {}

private class Declaring<Value: CallValue>: MethodDeclaring {
  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("take:") { (_: Declaring<Value>, _: Value) in }
    methods.register("give") { (_: Declaring<Value>) -> Value in fatalError() }
    methods.register("a:b:c:d:") {
      (_: Declaring<Value>, _: Int, _: Value, _: Int, _: Int) in
    }
  }

  static var declared: [String] { MethodTable.of(self).selectors.map(\.name) }
}

/// A type that fits no place, with the encoding of the place that it claims.
struct Impostor: CustomTestStringConvertible, Sendable {
  /// One way to make something from Swift types, and whether it was refused.
  private struct Refusal {
    let entry: String
    let isRefused: Bool

    init(_ entry: String, _ make: () throws -> Void) {
      self.entry = entry
      do {
        try make()
        isRefused = false
      } catch { isRefused = true }
    }
  }

  let testDescription: String
  private let refusals: @Sendable () -> [Refusal]

  init<Value: CallValue>(_ type: Value.Type, _ encoding: String) {
    testDescription = "\(type)"
    refusals = { Self.all(type, encoding) }
  }

  /// Expects that it is refused wherever a plan is made.
  func expectRefused() {
    for refusal in refusals() { #expect(refusal.isRefused, "\(refusal.entry)") }
  }

  private static func all<Value: CallValue>(
    _ type: Value.Type, _ encoding: String
  ) -> [Refusal] {
    let host = MethodTable.of(Host.self)
    let functions = FunctionTable()
    let target = ClosureTarget()
    return [
      Refusal("message, argument") { _ = try Message<NoResult, Value>("take:") },
      Refusal("message, result") { _ = try Message<Value>("give") },
      Refusal("message, last of many") {
        _ = try Message<Int, Int, Double, String, Value>("a:b:c:d:")
      },
      Refusal("message, encoding") {
        _ = try Message<NoResult, Value>("take:", encoding: "v@:" + encoding)
      },
      Refusal("register, argument") { try host.register("take:") { (_: Host, _: Value) in } },
      Refusal("register, result") {
        try host.register("give") { (_: Host) -> Value in fatalError() }
      },
      Refusal("register, four arguments") {
        try host.register("a:b:c:d:") { (_: Host, _: Int, _: Value, _: Int, _: Int) in }
      },
      Refusal("register, encoding") {
        try host.register("take:", encoding: "v@:" + encoding) { (_: Host, _: Value) in }
      },
      Refusal("implementation") {
        _ = try Implementation { (_: Host, _: Int, _: Value) -> Int in 0 }
      },
      Refusal("on, argument") { try target.register("take:") { (_: Value) in } },
      Refusal("on, result") {
        try target.register("give") { () -> Value in fatalError() }
      },
      Refusal("callback, argument") { _ = try Callback { (_: Value) in } },
      Refusal("callback, result") { _ = try Callback { () -> Value in fatalError() } },
      Refusal("callback, encoding") {
        _ = try Callback(encoding: "v" + encoding) { (_: Value) in }
      },
      Refusal("function, argument") { try functions.register("take") { (_: Value) in } },
      Refusal("function, result") {
        try functions.register("give") { () -> Value in fatalError() }
      },
      Refusal("function, encoding") {
        try functions.register("coded", encoding: "v" + encoding) { (_: Value) in }
      },
      Refusal("argument of an invocation") {
        let call = try Invocation(parsing: "v@:" + encoding)
        _ = try call.argument(at: 2, as: Value.self)
      },
      Refusal("declare") {
        if Declaring<Value>.declared.isEmpty { throw ForwardingError.nobodyAnswered(nil) }
      },
    ]
  }
}

@Suite("Swift types are compared with their places")
struct FittingTests {
  private static let impostors = [
    Impostor(Claimed<0, (Int, Held?)>.self, "{M=q@}"),
    Impostor(Claimed<1, String>.self, "{M=q*}"),
    // Too large, too small, and misaligned.
    Impostor(Claimed<2, (Int, Int, Int)>.self, "{M=qq}"),
    Impostor(Claimed<3, Int>.self, "{M=qQQ}"),
    Impostor(Claimed<4, (UInt32, UInt32, UInt32, UInt32)>.self, "{M=qq}"),
    // No structure: nothing, an object, text, two values, and nonsense.
    Impostor(Claimed<5, Int>.self, "q"), Impostor(Claimed<6, Int>.self, "@"),
    Impostor(Claimed<7, Int>.self, "*"), Impostor(Claimed<8, (Int, Int)>.self, "{M=qq}"),
    Impostor(Claimed<9, Int>.self, "{M=q}"),
  ]

  @Test(
    "a type that does not match its encoding is refused wherever a plan is made",
    arguments: impostors)
  func refused(impostor: Impostor) { impostor.expectRefused() }

  @Test("a structure that matches its encoding is accepted everywhere")
  func passes() throws {
    typealias Pair = Claimed<10, (Int, Int)>
    let target = ClosureTarget()
    try target.register("swap:") { (pair: Pair) in
      Pair(members: (pair.members.1, pair.members.0))
    }
    #expect(try Message<Pair, Pair>("swap:")(Pair(members: (1, 2)), on: target).members == (2, 1))
  }

  @Test("a missing argument counts")
  func count() throws {
    let error = InvocationError.argumentCount(expected: 2, given: 1)
    #expect(throws: InvocationError.unfitFunction(name: "f", reason: error)) {
      try FunctionTable().register("f", encoding: "vii") { (_: Int32) in }
    }
    #expect(throws: InvocationError.argumentCount(expected: 1, given: 2)) {
      _ = try Message<NoResult, Int32, Int32>("a:b:", encoding: "v@:i")
    }
  }
}

/// Modes of a machine, as C declares them.
enum TestMode: Int32, CarriedValue {
  case off, slow, fast
}

struct TestCelsius: CarriedValue, Equatable {
  var degrees: Double
  var carrier: Double { degrees + 273.15 }
  init(_ degrees: Double) { self.degrees = degrees }
  init?(carrier: Double) {
    guard carrier >= 0 else { return nil }
    degrees = carrier - 273.15
  }
}

@Suite("Values with carriers")
struct CarriedValueTests {
  @Test("an enumeration with raw values is passed as its raw value")
  func enumeration() throws {
    let target = ClosureTarget()
    try target.register("next:") { (mode: TestMode) in
      TestMode(rawValue: mode.rawValue + 1) ?? .off
    }
    let next = try Message<TestMode, TestMode>("next:")
    #expect(next.signature.description == "i@:i")
    #expect(try next(.slow, on: target) == .fast)
  }

  @Test("an invalid raw value is refused, and the method does not run")
  func foreign() throws {
    let target = ClosureTarget()
    try target.register("set:") { (_: TestMode) -> Void in Issue.record("it ran") }
    #expect(
      throws: InvocationError.foreignValue(type: SwiftType(TestMode.self), given: "7")
    ) {
      try Message<NoResult, Int32>("set:")(7, on: target)
    }
  }

  @Test("a custom conversion works in both directions")
  func conversion() throws {
    let functions = FunctionTable()
    try functions.register("warmer") { (t: TestCelsius) in TestCelsius(t.degrees + 1) }
    #expect(try functions.call("warmer", 273.15, returning: Double.self) == 274.15)
    #expect(
      throws: InvocationError.foreignValue(type: SwiftType(TestCelsius.self), given: "-1.0")
    ) {
      try functions.call("warmer", -1.0, returning: TestCelsius.self)
    }
  }
}
