// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import ForwardingTestSupport
import Foundation
import Invocations
import Testing
import TypeEncodings

@Suite("Function tables")
struct FunctionTableTests {
  /// Calls a function of the program by its name, and looked up with its types.
  private func answers<Value: Equatable, each Argument: CallValue>(
    _ name: String, _ encoding: String, _ arguments: repeat each Argument,
    as type: Value.Type = Value.self
  ) throws -> [Value] {
    let functions = try FunctionTable(ofProgram: [name: encoding])
    let function = try functions.function(name, as: ((repeat each Argument) -> Value).self)
    return try [
      functions.call(name, repeat each arguments, returning: Value.self),
      function(repeat each arguments),
    ]
  }

  private func expect<Value: Equatable, each Argument: CallValue>(
    _ name: String, _ encoding: String, _ arguments: repeat each Argument, gives expected: Value,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let answers = try answers(name, encoding, repeat each arguments, as: Value.self)
    #expect(answers == [expected, expected], sourceLocation: sourceLocation)
  }

  @Test("C functions of numbers, addresses and text are called by name, and as Swift functions")
  func native() throws {
    try expect("pow", "ddd", 2.0, 10.0, gives: 1024.0)
    try expect("sqrt", "dd", 81.0, gives: 9.0)
    try expect("fma", "dddd", 2.0, 3.0, 4.0, gives: 10.0)
    try expect("ldexp", "ddi", 0.5, Int32(-1), gives: 0.25)
    try expect("sqrtf", "ff", Float(81), gives: Float(9))
    try expect("labs", "qq", -5, gives: 5)
    try expect("abs", "ii", Int32(-7), gives: Int32(7))
    try expect("getpid", "i", gives: getpid())
    try withUnsafeBytes(of: (1, 1, 2)) { bytes in
      let (one, other) = (bytes.baseAddress!, bytes.baseAddress! + 8)
      try expect("memcmp", "i^v^vQ", one, other, UInt(8), gives: Int32(0))
      let orders = try answers("memcmp", "i^v^vQ", one, one + 16, UInt(8), as: Int32.self)
      #expect(orders.allSatisfy { $0 < 0 })
    }
    try expect("strlen", "Q*", "seven, and é", gives: UInt(13))
    try expect("strncmp", "i**Q", "seven", "sever", UInt(4), gives: Int32(0))
    let orders = try answers("strncmp", "i**Q", "seven", "sever", UInt(5), as: Int32.self)
    #expect(orders.allSatisfy { $0 < 0 })
    try expect("strncmp", "i**Q", "seven", String?.none, UInt(0), gives: Int32(0))
    try expect("strtod", "d*^v", "2.5", UnsafeRawPointer?.none, gives: 2.5)
    // A result that points into an argument is read while the argument is lent.
    try expect("strchr", "**i", "seven", Int32(118), gives: "ven")
    try expect(
      "strchr", "**i", String(repeating: "a", count: 100) + "ven", Int32(118), gives: "ven")
    try expect("strchr", "**i", "seven", Int32(120), gives: String?.none)
    let tail = try FunctionTable(ofProgram: ["strchr": "**i"])
    let text = try tail.function("strchr", as: ((String, Int32) -> String).self)
    #expect(throws: InvocationError.notText(index: nil)) { try text("seven", 120) }
    let address = try tail.function("strchr", as: ((String, Int32) -> UnsafeRawPointer).self)
    #expect(throws: InvocationError.nullPointer(index: nil)) { try address("seven", 120) }
  }

  private struct Letter: Equatable {
    var text: String
    var pages: [Int]
  }

  @Test("values of every kind are passed to a closure and returned, and its error is thrown")
  func closures() throws {
    let functions = FunctionTable()
    func echoes<Value: Equatable & SendableMetatype>(_ value: Value) throws {
      try functions.register("echo", replacing: true) { (value: Value) -> Value in value }
      let echo = try functions.function("echo", as: ((Value) -> Value).self)
      #expect(try echo(value) == value)
      #expect(try functions.call("echo", value, returning: Value.self) == value)
    }
    let numbers: [any (Equatable & SendableMetatype)] = [
      Int8.min, UInt16.max, Int32.min, UInt64.max, true, Float.pi, -Double.infinity,
      LongDouble(0.1), Int128.min, ComplexValue<Double>(0.5, 3), 0xABAB_ABAB as UInt32, 1 << 50,
      Int16.min, UInt8.max, -(Int64(1) << 50),
    ]
    for number in numbers { try echoes(number) }
    let others: [any (Equatable & SendableMetatype)] = [
      "text with é", Selector("a:b:"), FixturePoint(x: 1, y: 2), [1: "one"],
      Letter(text: "hello", pages: [1, 2]),
    ]
    for value in others { try echoes(value) }
    try echoes(nil as String?)
    try echoes("some" as String?)
    try echoes(UnsafeRawPointer(bitPattern: 0x10))
    try echoes(5 as Int?)
    try functions.register("join") { (a: String, b: Int, c: Double) in "\(a) \(b) \(c)" }
    let join = try functions.function("join", as: ((String, Int, Double) -> String).self)
    #expect(try join("one", 2, 3) == "one 2 3.0")
    struct Refusal: Error {}
    try functions.register("no") { (_: Int) throws -> Int32 in throw Refusal() }
    let no = try functions.function("no", as: ((Int) -> Int32).self)
    #expect(throws: Refusal.self) { try no(1) }
    #expect(throws: Refusal.self) { try functions.call("no", 1, returning: Int32.self) }
    try functions.register("add", encoding: "i24i0i4") { (a: Int32, b: Int32) in a + b }
    #expect(try functions.call("add", Int32(2), Int32(3), returning: Int32.self) == 5)
    #expect(functions.names == ["add", "echo", "join", "no"])
    #expect(functions["join"]?.signature.description == "**qd")
  }

  @Test("objects are passed and returned, and a discarded object result is released")
  func objects() throws {
    let functions = FunctionTable()
    let census = Census()
    try functions.register("wrap") { () -> Tracked in Tracked(in: census) }
    try functions.register("same") { (object: Tracked) -> Tracked in object }
    let wrap = try functions.function("wrap", as: (() -> Tracked).self)
    let same = try functions.function("same", as: ((Tracked) -> Tracked).self)
    do {
      let object = try wrap()
      #expect(try same(object) === object)
      #expect(try functions.call("same", object, returning: Tracked.self) === object)
      #expect(census.died == 0)
    }
    #expect(census.died == 1)
    try functions.call("wrap")
    try wrap()
    #expect(census.died == 3)
  }

  @Test("an invalid call is refused before it is made, and a mistyped name gets a suggestion")
  func refusals() throws {
    let functions = FunctionTable()
    try functions.register(
      "never", encoding: "vid", unsafeFunction: Fixtures.named("f_fail").function)
    func unfit(_ reason: InvocationError) -> InvocationError {
      .unfitFunction(name: "never", reason: reason)
    }
    let mismatch = InvocationError.typeMismatch(
      index: 1, expected: encodingOf("d"), given: SwiftType(Float.self))
    #expect(throws: unfit(.argumentCount(expected: 2, given: 1))) {
      try functions.call("never", Int32(1))
    }
    #expect(throws: unfit(.argumentCount(expected: 2, given: 3))) {
      try functions.call("never", Int32(1), 1.0, 1.0)
    }
    #expect(throws: unfit(mismatch)) { try functions.call("never", Int32(1), Float(2)) }
    // The types of a function that is looked up are compared then.
    #expect(throws: unfit(.argumentCount(expected: 2, given: 1))) {
      try functions.function("never", as: ((Int32) -> Void).self)
    }
    #expect(throws: unfit(mismatch)) {
      try functions.function("never", as: ((Int32, Float) -> Void).self)
    }
    #expect(
      throws: unfit(
        .typeMismatch(index: nil, expected: encodingOf("v"), given: SwiftType(Double.self)))
    ) { try functions.function("never", as: ((Int32, Double) -> Double).self) }
    let literal = #expect(throws: InvocationError.self) { try functions.call("never", 1, 1.0) }
    #expect(
      "\(literal!)"
        == "'never': argument 0 is Int32 (i), not Int (q); for a literal such as 5, write Int32(5)")
    for name in ["nevr", "nveer", "NEVER", "something else"] {
      let unknown = InvocationError.unknownFunction(
        name: name, nearest: name == "something else" ? nil : "never")
      #expect(throws: unknown) { try functions.call(name) }
      #expect(throws: unknown) { try functions.function(name, as: (() -> Void).self) }
    }
    #expect(throws: InvocationError.duplicateName("never")) {
      try functions.register("never") { () -> Void in }
    }
    #expect(functions.names == ["never"])
  }

  @Test("an error of registering names the function, which is not registered")
  func unregistered() throws {
    func expect(_ reason: String, _ register: (FunctionTable) throws -> Void) {
      let functions = FunctionTable()
      let error = #expect(throws: InvocationError.self) { try register(functions) }
      #expect("\(error!)" == "'f': \(reason)")
      #expect(functions.names.isEmpty)
    }
    let (fail, program) = try (Fixtures.named("f_fail").function, Library(""))
    expect("the function pointer is NULL") {
      try $0.register("f", encoding: "v", unsafeFunction: nil)
    }
    expect("the structure is not closed with '}'\nv@:{\n   ^") {
      try $0.register("f", encoding: "v@:{", unsafeFunction: fail)
    }
    expect("'v' (void) can only be a result, or what a pointer points to\nvv\n ^") {
      try $0.register("f", encoding: "vv", unsafeSymbolIn: program, symbol: "abs")
    }
    expect("an encoding has letters for types, not their names; 'int(int)' is 'ii'\nint(int)\n^") {
      try $0.register("f", encoding: "int(int)", unsafeSymbolIn: program, symbol: "abs")
    }
    expect("'the program' has no symbol 'no_such_function'") {
      try $0.register("f", encoding: "v", unsafeSymbolIn: program, symbol: "no_such_function")
    }
    expect("argument 0 is Double (d), not Int32 (i)") {
      try $0.register("f", encoding: "id") { (value: Int32) -> Int32 in value }
    }
    expect("the result is Double (d), not Int32 (i)") {
      try $0.register("f", encoding: "di") { (value: Int32) -> Int32 in value }
    }
    expect("the result is Double (d), not Void (v)") {
      try $0.register("f", encoding: "di") { (_: Int32) -> Void in }
    }
  }

  @Test("a missing library or symbol is a clear error")
  func missing() throws {
    let script = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).so")
    defer { try? FileManager.default.removeItem(at: script) }
    let text = String(repeating: "/* GNU ld script */ GROUP ( /lib/libm.so.6 )\n", count: 4)
    try text.write(to: script, atomically: true, encoding: .utf8)
    for (path, end) in [
      (
        "/nowhere/libnone.so",
        "libnone.so: cannot open shared object file: No such file or directory"
      ),
      (script.path, "it may be a linker script: add the version, as in 'libm.so.6'"),
      ("libm.so.6\0", "the path contains a NUL"), ("\0", "the path contains a NUL"),
    ] {
      let error = #expect(throws: InvocationError.self) { try Library(path) }
      guard case .libraryNotFound(path, _) = error else { throw error! }
      #expect("\(error!)".hasSuffix(end))
    }
    let error = try #require(throws: InvocationError.self) {
      try Library("libm.so.6").address(of: "no_such_function")
    }
    guard case .symbolNotFound(["no_such_function"], "libm.so.6", let file?) = error else {
      throw error
    }
    #expect(FileManager.default.fileExists(atPath: file))
    #expect("\(error)" == "'libm.so.6' (\(file)) has no symbol 'no_such_function'")
    let none = InvocationError.symbolNotFound(symbols: ["x"], library: "the program", file: nil)
    #expect(throws: none) { try Library("").address(of: "x") }
    #expect(throws: InvocationError.self) { try Library("libm.so.6").address(of: "pow\0x") }
  }

  @Test("errno is returned with the result, and variadic arguments get C's promotions")
  func others() throws {
    let functions = try FunctionTable(ofProgram: ["open": "i*i"])
    let answer = try functions.callCapturingErrno(
      "open", "/nowhere/at all", Int32(0), returning: Int32.self)
    #expect(answer.result == -1)
    #expect(answer.errno == ENOENT)
    try functions.register(
      "snprintf", encoding: "i^vQ*fsi", unsafeSymbolIn: Library(""), fixedArgumentCount: 3)
    let print = try functions.function(
      "snprintf",
      as: ((UnsafeMutableRawPointer, UInt, String, Float, Int16, Int32) -> Int32).self)
    let text = try withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { room in
      let count = try print(room.baseAddress!, 64, "%.1f %d %d", 1.5, -2, 3)
      return String(decoding: UnsafeRawBufferPointer(room).prefix(Int(count)), as: UTF8.self)
    }
    #expect(text == "1.5 -2 3")
  }

  @Test("a typed function, with its library, is there whatever becomes of the table's function")
  func replaced() throws {
    let functions = FunctionTable()
    weak var library: Library?
    do {
      let opened = try Library("libm.so.6")
      library = opened
      try functions.register("root", encoding: "dd", unsafeSymbolIn: opened, symbol: "sqrt")
    }
    #expect(try functions.call("root", 81.0, returning: Double.self) == 9)
    do {
      let root = try functions.function("root", as: ((Double) -> Double).self)
      try functions.register("root", replacing: true) { (number: Double) in -number }
      #expect(library != nil)
      #expect(try root(81) == 9)
      #expect(try functions.call("root", 81.0, returning: Double.self) == -81)
      functions.unregister("root")
      #expect(try root(81) == 9)
      #expect(root.name == "root")
      #expect(try root.signature == MethodSignature("dd"))
    }
    #expect(library == nil)
  }

  @Test("a name can be called with more sets of types than it caches")
  func manyTypes() throws {
    let functions = FunctionTable()
    try functions.register("isNull") { (pointer: UnsafeRawPointer?) in pointer == nil }
    func check<Pointer: CallValue>(_ pointer: Pointer) throws {
      for _ in 0..<2 { #expect(try functions.call("isNull", pointer, returning: Bool.self)) }
    }
    try check(UnsafeRawPointer?.none)
    try check(UnsafeMutableRawPointer?.none)
    try check(UnsafePointer<Int>?.none)
    try check(UnsafePointer<CChar>?.none)
    try check(UnsafeMutablePointer<Int>?.none)
    try check(OpaquePointer?.none)
    try functions.call("isNull", OpaquePointer?.none)
  }
}
